/**
 * The rate limits of the interface also bound concurrent requests and grow with running workers. `@fastify/rate-limit` counts requests in
 * one window only.
 */

import type { FastifyReply, FastifyRequest } from "fastify";
import { type LimitedOperation, rateLimits, rateWindow } from "serverless-compute-api/shapes";
import { notFound, ServiceError } from "../errors";
import type { Faults } from "../faults/faults";
import type { EndpointRow } from "../resources/endpoint-table";
import type { SteadyClock } from "../steady-clock";
import type { Auth } from "./auth";

/** Counts requests per endpoint and operation (interface: Rate limits). */
interface RateLimits {
  /**
   * Counts a request until its response has ended. Throws a ServiceError `tooManyRequests` with Retry-After if there are too many requests
   * in the window or concurrently.
   */
  admit(endpointId: string, operation: LimitedOperation, reply: Pick<FastifyReply, "raw">): void;
  removeEndpoint(endpointId: string): void;
}

/**
 * Growth of a limit per running worker, as a fraction of the base limit; not defined by the interface. With more than ten running workers,
 * all limits grow, including the limit of concurrent requests.
 */
const growthPerWorker = 1 / 10;

/** The effective limit: the maximum of the base limit and the workers' total. */
const effectiveLimit = (base: number, workers: number): number =>
  Math.max(base, Math.floor(workers * base * growthPerWorker));

/** Admits all requests, for load tests of handlers. */
export const noRateLimits: RateLimits = { admit: () => undefined, removeEndpoint: () => undefined };

interface Usage {
  /** Times of the requests in the window, oldest first. */
  times: number[];
  openRequests: number;
}

/** Removes requests outside the window; returns the number of requests in it. */
function countRecent({ times }: Usage, now: number): number {
  const isOutside = (time: number | undefined): boolean => time !== undefined && time <= now - rateWindow;
  while (isOutside(times[0])) times.shift();
  return times.length;
}

/** Creates rate limits. `runningWorkers` returns the number of an endpoint's running and idle workers. */
export function createRateLimits(clock: SteadyClock, runningWorkers: (endpointId: string) => number): RateLimits {
  const usages = new Map<string, Map<LimitedOperation, Usage>>();

  function usageOf(endpointId: string, operation: LimitedOperation): Usage {
    const operations = usages.get(endpointId) ?? new Map<LimitedOperation, Usage>();
    usages.set(endpointId, operations);
    const usage = operations.get(operation) ?? { times: [], openRequests: 0 };
    operations.set(operation, usage);
    return usage;
  }

  function reject(operation: LimitedOperation, limitText: string, seconds: number): never {
    throw new ServiceError(
      "tooManyRequests",
      `too many requests: /${operation} of this endpoint accepts ${limitText}; retry in ${seconds} s`,
      { "retry-after": String(seconds) },
    );
  }

  return {
    admit(endpointId, operation, reply) {
      const { requests, concurrent } = rateLimits[operation];
      const usage = usageOf(endpointId, operation);
      const now = clock.now();
      const recentCount = countRecent(usage, now);
      // Workers are counted only once the base limit is reached.
      const isBelowBase = recentCount < requests && usage.openRequests < (concurrent ?? Number.POSITIVE_INFINITY);
      const workers = isBelowBase ? 0 : runningWorkers(endpointId);
      const limit = effectiveLimit(requests, workers);
      if (recentCount >= limit) {
        const waitTime = (usage.times[0] ?? now) + rateWindow - now;
        reject(operation, `${limit} requests per ${rateWindow / 1000} s`, Math.ceil(waitTime / 1000));
      }
      const maxConcurrent = concurrent === undefined ? Number.POSITIVE_INFINITY : effectiveLimit(concurrent, workers);
      if (usage.openRequests >= maxConcurrent) reject(operation, `${maxConcurrent} concurrent requests`, 1);
      usage.times.push(now);
      usage.openRequests++;
      reply.raw.once("close", () => {
        usage.openRequests--;
      });
    },
    removeEndpoint: (endpointId) => void usages.delete(endpointId),
  };
}

/** Path parameters of the routes of an endpoint, for fastify's generics. */
export interface EndpointRoute {
  Params: { endpointId: string };
}

/**
 * Route options that check a call of the job API and inject faults before its body is read; `operation` selects the rate limit.
 */
export type Admission = (operation?: LimitedOperation) => {
  onRequest(request: FastifyRequest<EndpointRoute>, reply: FastifyReply, done: (error?: Error) => void): void;
  onSend(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: () => void): void;
};

/** Checks the key, endpoint and rate limit of each call, in this order. `typeOf` returns undefined if the endpoint does not exist. */
export const createAdmission =
  (
    { checkJobs }: Pick<Auth, "checkJobs">,
    typeOf: (endpointId: string) => EndpointRow["type"] | undefined,
    limits: RateLimits,
    faults: Pick<Faults, "ofRequest" | "isDropped">,
  ): Admission =>
  (operation) => ({
    onRequest(request, reply, done) {
      const { endpointId } = request.params;
      checkJobs(request);
      const type = typeOf(endpointId);
      if (type === undefined) throw notFound("endpoint", endpointId);
      if (type === "LB")
        throw new ServiceError(
          "unsupported",
          `endpoint "${endpointId}" is a load balancer: it has no queue and accepts no jobs`,
        );
      if (operation) limits.admit(endpointId, operation, reply);
      const delay = faults.ofRequest(endpointId, reply.raw);
      if (delay) delay.then(() => done(), done);
      else done();
    },
    onSend(_request, reply, _payload, done) {
      if (faults.isDropped(reply.raw)) reply.raw.destroy();
      done();
    },
  });
