import type { ApiError } from "./errors";

/** Number of attempts and waits for a kind of fault. */
interface RetryPolicy {
  /** Total number of attempts. */
  attempts: number;
  /** Upper bound of the first wait, ms; doubles with each attempt. */
  base: number;
}

/** Maximum backoff, ms; only Retry-After waits longer. */
const maxBackoff = 8_000;

const defaultPolicy: RetryPolicy = { attempts: 6, base: 250 };

/** No process listens. The user waits for this error, and a restarting service is available within seconds. */
const unreachablePolicy: RetryPolicy = { attempts: 3, base: 1_000 };

const retryPolicies: Record<string, RetryPolicy> = {
  connection_refused: unreachablePolicy,
  unknown_host: unreachablePolicy,
  proxied: unreachablePolicy,
  // The service is healthy but temporarily rejects calls, possibly without Retry-After; its windows are 10 s long.
  rate_limited: { attempts: 12, base: 250 },
};

/** Retries of a call that fails because a new object is not visible yet. */
export interface VisibilityRetries {
  /** Error codes of an object that is not visible. */
  codes: readonly string[];
  /** Waits before the retries, ms. */
  waits: readonly number[];
}

/** Retries of a call that references a new template, which may be unknown for 2.5 s (measured by third parties). */
export const newTemplateRetries: VisibilityRetries = { codes: ["template_not_found"], waits: Array(10).fill(250) };

/** Upper bound of the random delay after Retry-After, so that waiting calls do not all resume at once, ms. */
export const resumeJitter = (wait: number): number => Math.min(2_000, Math.max(250, wait / 4));

/** Properties of a request that allow retries. */
export interface RetryRules {
  /** True if the request can safely be sent twice. */
  idempotent: boolean;
  visibilityRetries?: VisibilityRetries | undefined;
}

/**
 * Returns the wait before the next attempt, ms; undefined if there is none. Uses full jitter: a random time up to an upper bound that
 * doubles with each attempt.
 */
export function waitBeforeRetry(
  error: ApiError,
  attempt: number,
  request: RetryRules,
  random: () => number,
): number | undefined {
  const { visibilityRetries } = request;
  if (visibilityRetries?.codes.includes(error.code)) return visibilityRetries.waits[attempt - 1];
  if (!error.retryable || (error.ambiguous && !request.idempotent)) return undefined;
  const { attempts, base } = retryPolicies[error.code] ?? defaultPolicy;
  if (attempt >= attempts) return undefined;
  const backoff = random() * Math.min(maxBackoff, base * 2 ** (attempt - 1));
  const { retryAfter } = error;
  // The backoff also applies to a Retry-After of 0 or in the past, which would use up the attempts within a second.
  return retryAfter === undefined ? backoff : Math.max(backoff, retryAfter + random() * resumeJitter(retryAfter));
}

/** Maximum accepted Retry-After, ms. */
const maxRetryAfter = 24 * 3600 * 1000;

/** Parses Retry-After, seconds or an HTTP date, to milliseconds from `now`, the time of the service; undefined if it is neither. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  const seconds = Number(value);
  const wait = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.min(maxRetryAfter, Math.max(0, wait));
}

/** The items of a RateLimit field: `"minute";r=0;t=23`, or in an older form `limit=100, remaining=0, reset=23`. */
const rateLimitItems = /\b(r|remaining)=(\d+)|\b(t|reset)=(\d+)/g;

/**
 * Returns the milliseconds until an exhausted limit resets, from a response's RateLimit field; undefined if calls remain or the
 * field contains neither. With several limits, the longest wait counts.
 */
export function readRateLimit(value: string | undefined): number | undefined {
  let wait: number | undefined;
  let isExhausted = false;
  for (const [, left, remaining, , seconds] of (value ?? "").matchAll(rateLimitItems)) {
    if (left !== undefined) isExhausted = Number(remaining) === 0;
    else if (isExhausted) wait = Math.min(maxRetryAfter, Math.max(wait ?? 0, Number(seconds) * 1000));
  }
  return wait;
}
