import type { ServiceTimings } from "../timings";

/** The backoff of an endpoint's worker starts after failed workers. */
export interface Backoff {
  /** Number of consecutive failures. */
  failures: number;
  /** Number of consecutive failures of workers that had not requested a job yet. */
  failedStarts: number;
  /** The earliest time of the next start, ms of the steady clock. */
  notBefore: number;
}

/** The backoff without failures, and after a worker of the endpoint succeeded. */
export const noBackoff: Backoff = { failures: 0, failedStarts: 0, notBefore: 0 };

/**
 * The backoff after another crash or failed start; `starting` is true if the worker had not requested a job yet. It doubles with each
 * failure, up to `startBackoffMax`.
 */
export function nextBackoff(
  { failures, failedStarts }: Backoff,
  starting: boolean,
  now: number,
  timings: Pick<ServiceTimings, "startBackoff" | "startBackoffMax">,
): Backoff {
  const delay = Math.min(timings.startBackoff * 2 ** failures, timings.startBackoffMax);
  return { failures: failures + 1, failedStarts: starting ? failedStarts + 1 : 0, notBefore: now + delay };
}
