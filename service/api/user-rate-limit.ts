import type { FastifyReply } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { ServiceError } from "../errors";

/** The rate limit of REST v2, for all of a user's requests together: the facts name a minute's window, and no number. */
const perMinute = { requests: 1000, seconds: 60 } as const;

export type UserRateLimit = ReturnType<typeof createUserRateLimit>;

/** Counts requests, in windows of a minute that each begin with the first request after the one before. A local service has one user. */
export function createUserRateLimit(clock: Clock) {
  const { requests, seconds } = perMinute;
  let began = Number.NEGATIVE_INFINITY;
  let used = 0;
  return {
    /** Counts a request and says in its answer's headers what is left; throws a ServiceError `tooManyRequests` beyond the limit. */
    admit(reply: Pick<FastifyReply, "header">): void {
      const now = clock.now();
      // A window that is still to come is of before the clock was set back.
      if (now - began >= seconds * 1000 || now < began) {
        began = now;
        used = 0;
      }
      const reset = Math.ceil((began + seconds * 1000 - now) / 1000);
      used = Math.min(used + 1, requests + 1);
      reply.header("RateLimit-Policy", `"minute";q=${requests};w=${seconds}`);
      reply.header("RateLimit", `"minute";r=${Math.max(requests - used, 0)};t=${reset}`);
      if (used <= requests) return;
      throw new ServiceError("tooManyRequests", "rate limit exceeded for the minute window", {
        "Retry-After": String(reset),
      });
    },
  };
}
