import type { Clock } from "serverless-compute-api/clock";
import type { JobTimings } from "../jobs/timings";

/**
 * The backoff of an endpoint's worker starts after failed workers. It doubles with each failure, up to `startBackoffMax`, until a worker
 * succeeds.
 */
export function createStartBackoff(clock: Clock, timings: JobTimings) {
  const failing = new Map<string, { failures: number; starts: number; notBefore: number }>();
  return {
    /** The earliest time of the next start, ms since the epoch; 0 without failures. */
    notBefore: (endpointId: string): number => failing.get(endpointId)?.notBefore ?? 0,
    /**
     * Records a crash or a failed start; `starting` is true if the worker had not requested a job yet. Returns the number of consecutive
     * failures with `starting`.
     */
    failed(endpointId: string, starting: boolean): number {
      const before = failing.get(endpointId) ?? { failures: 0, starts: 0 };
      const failures = before.failures + 1;
      const starts = starting ? before.starts + 1 : 0;
      const wait = Math.min(timings.startBackoff * 2 ** (failures - 1), timings.startBackoffMax);
      failing.set(endpointId, { failures, starts, notBefore: clock.now() + wait });
      return starts;
    },
    /** Resets the backoff after a worker of the endpoint succeeded, or when earlier failures no longer matter. */
    forget: (endpointId: string): void => void failing.delete(endpointId),
  };
}
