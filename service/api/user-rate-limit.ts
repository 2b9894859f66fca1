/** The rate limit of REST v2 counts in three windows at once, and reports all of them. `@fastify/rate-limit` has one window. */

import type { FastifyReply } from "fastify";
import { ServiceError } from "../errors";
import type { SteadyClock } from "../steady-clock";

/** Windows of REST v2's rate limit over all requests of a user. The windows are documented; their limits are examples. */
const windows = [
  { name: "minute", requests: 1000, seconds: 60 },
  { name: "hour", requests: 30_000, seconds: 3600 },
  { name: "day", requests: 300_000, seconds: 86_400 },
] as const;

export type UserRateLimit = ReturnType<typeof createUserRateLimit>;

/** Counts requests in consecutive windows, each beginning with the first request after the previous window. There is only one user. */
export function createUserRateLimit(clock: SteadyClock) {
  const counts = windows.map((window) => ({ ...window, began: Number.NEGATIVE_INFINITY, used: 0 }));
  const policy = windows.map(({ name, requests, seconds }) => `"${name}";q=${requests};w=${seconds}`).join(", ");
  return {
    /** Counts a request and sets the rate limit headers of its response; returns the error above a limit. */
    admit(reply: Pick<FastifyReply, "header">): ServiceError | undefined {
      const now = clock.now();
      const remaining = counts.map((window) => {
        const length = window.seconds * 1000;
        if (now - window.began >= length) Object.assign(window, { began: now, used: 0 });
        window.used = Math.min(window.used + 1, window.requests + 1);
        const reset = Math.ceil((window.began + length - now) / 1000);
        return { ...window, reset, rest: Math.max(window.requests - window.used, 0) };
      });
      reply.header("RateLimit-Policy", policy);
      reply.header("RateLimit", remaining.map(({ name, rest, reset }) => `"${name}";r=${rest};t=${reset}`).join(", "));
      const exceededWindow = remaining.findLast(({ used, requests }) => used > requests);
      if (!exceededWindow) return undefined;
      return new ServiceError("tooManyRequests", `rate limit exceeded for the ${exceededWindow.name} window`, {
        "Retry-After": String(exceededWindow.reset),
      });
    },
  };
}
