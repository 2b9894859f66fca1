import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

/** A source of time. All code that waits or records times takes a clock, so that tests can advance time instead of waiting. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic time in ms with an arbitrary origin. Default: `now`. */
  elapsed?(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason if the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The system clock. It starts at the system's time and ignores later changes of that time, so that waits and timeouts keep their length. */
export const systemClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  sleep: async (ms, signal) => {
    signal?.throwIfAborted();
    try {
      await delay(Math.max(0, ms), undefined, signal ? { signal } : {});
    } catch (error) {
      // Node wraps the reason in an AbortError, but callers compare errors with the signal's reason.
      signal?.throwIfAborted();
      throw error;
    }
  },
};

/** The system clock with the system's time, also after a change, for times that are stored. */
export const wallClock: Clock = { ...systemClock, now: () => Date.now(), elapsed: () => performance.now() };

/** Monotonic time of a clock in ms, with an arbitrary origin. */
export const elapsedTime = (clock: Clock): number => clock.elapsed?.() ?? clock.now();

/** Maximum delay of Node's timers, ms. */
export const maxTimerDelay = 2 ** 31 - 1;

/** Waits for a result that several calls share; rejects with the signal's reason if the signal aborts first. */
export function untilAborted<Result>(result: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return result;
  return new Promise((resolve, reject) => {
    const rejectAborted = (): void => reject(signal.reason);
    if (signal.aborted) rejectAborted();
    // Many calls of a deployment may wait with one signal.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", rejectAborted);
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", rejectAborted));
  });
}
