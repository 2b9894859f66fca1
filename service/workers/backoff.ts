import type { SteadyClock } from "../steady-clock";
import type { ServiceTimings } from "../timings";

/**
 * The backoff of an endpoint's worker starts after failed workers. It doubles with each failure, up to `startBackoffMax`, until a worker
 * succeeds.
 */
export function createStartBackoff(clock: SteadyClock, timings: ServiceTimings) {
  const states = new Map<string, { failures: number; failedStarts: number; notBefore: number }>();
  return {
    /** The earliest time of the next start, ms since the epoch; 0 without failures. */
    notBefore: (endpointId: string): number => states.get(endpointId)?.notBefore ?? 0,
    /**
     * Records a crash or a failed start; `starting` is true if the worker had not requested a job yet. Returns the number of consecutive
     * failures with `starting`.
     */
    recordFailure(endpointId: string, starting: boolean): number {
      const before = states.get(endpointId) ?? { failures: 0, failedStarts: 0 };
      const failures = before.failures + 1;
      const failedStarts = starting ? before.failedStarts + 1 : 0;
      const delay = Math.min(timings.startBackoff * 2 ** (failures - 1), timings.startBackoffMax);
      states.set(endpointId, { failures, failedStarts, notBefore: clock.now() + delay });
      return failedStarts;
    },
    /** Resets the backoff after a worker of the endpoint succeeded, or when earlier failures no longer matter. */
    reset: (endpointId: string): void => void states.delete(endpointId),
  };
}
