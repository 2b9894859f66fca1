import type { Clock } from "serverless-compute-api/clock";
import type { JobTimings } from "../jobs/timings";

/** How long an endpoint's next worker has to wait after workers that failed. */
export interface StartBackoff {
  /** When a worker may be started again, ms since the epoch; in the past when nothing failed. */
  notBefore(endpointId: string): number;
  /** A worker crashed, or none could be started; `starting` when it had not asked for a job yet. Answers how many of those came in a row. */
  failed(endpointId: string, starting: boolean): number;
  /** A worker of the endpoint did its work. */
  worked(endpointId: string): void;
  forget(endpointId: string): void;
}

export function createStartBackoff(clock: Clock, timings: JobTimings): StartBackoff {
  const failing = new Map<string, { failures: number; starts: number; notBefore: number }>();
  return {
    notBefore: (endpointId) => failing.get(endpointId)?.notBefore ?? 0,
    failed(endpointId, starting) {
      const before = failing.get(endpointId) ?? { failures: 0, starts: 0 };
      const failures = before.failures + 1;
      const starts = starting ? before.starts + 1 : 0;
      const wait = Math.min(timings.startBackoff * 2 ** (failures - 1), timings.startBackoffMax);
      failing.set(endpointId, { failures, starts, notBefore: clock.now() + wait });
      return starts;
    },
    worked: (endpointId) => void failing.delete(endpointId),
    forget: (endpointId) => void failing.delete(endpointId),
  };
}
