import type { ApiError } from "./errors";

/** How often a fault is tried again, and how long each wait can be. */
interface Patience {
  /** Tries in all, the first included. */
  tries: number;
  /** Upper end of the first wait, ms; it doubles with each try. */
  base: number;
}

/** Longest wait that grows by itself, ms; only Retry-After waits longer. */
const longestWait = 8_000;

const usual: Patience = { tries: 6, base: 250 };

const patience: Record<string, Patience> = {
  // No process listens. The user waits for this message, and a restarting service is back within seconds.
  connection_refused: { tries: 3, base: 1_000 },
  unknown_host: { tries: 3, base: 1_000 },
  proxied: { tries: 3, base: 1_000 },
  // The service is healthy and rejects calls for now, possibly without Retry-After; its windows are 10 s long.
  rate_limited: { tries: 12, base: 250 },
};

/** Retries of a call that refers to a new template, which may be unknown for 2.5 s (measured by others): 10, 250 ms apart. */
const settling = { tries: 11, wait: 250 };

/** Upper end of the random part that waits after Retry-After get, so that waiting calls do not all wake at once, ms. */
export const wakeSpread = (wait: number): number => Math.min(2_000, Math.max(250, wait / 4));

/** Properties of a request that allow retries. */
export interface RetryAllowance {
  /** True if the request can safely be sent twice. */
  idempotent: boolean;
  /** Error codes of an object that was created a moment ago and is not visible yet. */
  settling?: readonly string[] | undefined;
}

/**
 * Milliseconds to wait before the next try, undefined when there is to be none.
 * Full jitter: any time up to the upper end, which doubles from try to try.
 */
export function waitBeforeRetry(
  error: ApiError,
  attempt: number,
  request: RetryAllowance,
  random: () => number,
): number | undefined {
  if (request.settling?.includes(error.code)) return attempt < settling.tries ? settling.wait : undefined;
  if (!error.retryable || (error.ambiguous && !request.idempotent)) return undefined;
  const { tries, base } = patience[error.code] ?? usual;
  if (attempt >= tries) return undefined;
  if (error.retryAfter !== undefined) return error.retryAfter + random() * wakeSpread(error.retryAfter);
  return random() * Math.min(longestWait, base * 2 ** (attempt - 1));
}

/** Longest Retry-After that is believed, ms. */
const longestRetryAfter = 24 * 3600 * 1000;

/** Reads Retry-After, seconds or an HTTP date, as milliseconds from `now`; undefined when it is neither. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  const seconds = Number(value);
  const wait = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.min(longestRetryAfter, Math.max(0, wait));
}

/** The items of a RateLimit field: `"minute";r=0;t=23`, in an older form `limit=100, remaining=0, reset=23`. */
const limitParts = /\b(r|remaining)=(\d+)|\b(t|reset)=(\d+)/g;

/**
 * Returns the milliseconds until an exhausted limit resets, from a response's RateLimit field; undefined if calls remain or the
 * field contains neither. Of several limits the longest wait counts.
 */
export function readRateLimit(value: string | undefined): number | undefined {
  let wait: number | undefined;
  let usedUp = false;
  for (const [, left, remaining, , seconds] of (value ?? "").matchAll(limitParts)) {
    if (left !== undefined) usedUp = Number(remaining) === 0;
    else if (usedUp) wait = Math.min(longestRetryAfter, Math.max(wait ?? 0, Number(seconds) * 1000));
  }
  return wait;
}
