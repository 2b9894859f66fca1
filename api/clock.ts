import { setTimeout as delay } from "node:timers/promises";

/** Time as an argument: everything that waits or stamps takes a clock, so that tests advance time instead of waiting. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic time in ms, from any origin: only differences count. Default: `now`. */
  elapsed?(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (ms, signal) => {
    signal?.throwIfAborted();
    try {
      await delay(Math.max(0, ms), undefined, signal ? { signal } : {});
    } catch (error) {
      // Node wraps the reason in an AbortError of its own; callers compare with the signal's reason.
      signal?.throwIfAborted();
      throw error;
    }
  },
};

/** A monotonic clock for waits and timeouts: `now` starts at the clock's time and does not follow later changes of it. */
export function steadyClock(clock: Clock): Clock {
  const { elapsed } = clock;
  if (!elapsed) return clock;
  const lead = clock.now() - elapsed();
  return { now: () => lead + elapsed(), elapsed, sleep: clock.sleep };
}
