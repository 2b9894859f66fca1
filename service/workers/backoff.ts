import type { Clock } from "serverless-compute-api/clock";
import type { JobTimings } from "../jobs/timings";

/**
 * How long an endpoint's next worker has to wait after workers that failed: twice as long after each of them, up to
 * `startBackoffMax`, until one did its work.
 */
export function createStartBackoff(clock: Clock, timings: JobTimings) {
  const failing = new Map<string, { failures: number; starts: number; notBefore: number }>();
  return {
    /** When a worker may be started again, ms since the epoch; in the past when nothing failed. */
    notBefore: (endpointId: string): number => failing.get(endpointId)?.notBefore ?? 0,
    /**
     * A worker crashed, or none could be started; `starting` when it had not asked for a job yet. Returns how many of those came
     * in a row.
     */
    failed(endpointId: string, starting: boolean): number {
      const before = failing.get(endpointId) ?? { failures: 0, starts: 0 };
      const failures = before.failures + 1;
      const starts = starting ? before.starts + 1 : 0;
      const wait = Math.min(timings.startBackoff * 2 ** (failures - 1), timings.startBackoffMax);
      failing.set(endpointId, { failures, starts, notBefore: clock.now() + wait });
      return starts;
    },
    /** Resets the backoff after a worker of the endpoint succeeded, or when its failures became irrelevant. */
    forget: (endpointId: string): void => void failing.delete(endpointId),
  };
}
