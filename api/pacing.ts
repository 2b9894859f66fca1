import type { Clock } from "./clock";
import { resumeJitter } from "./retry";

/** Limits the number of concurrent calls to `count`; further calls wait in order. */
export function createSlots(count: number) {
  let free = count;
  const queue: (() => void)[] = [];

  function wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const resolveWait = () => {
        signal?.removeEventListener("abort", cancelWait);
        resolve();
      };
      const cancelWait = () => {
        queue.splice(queue.indexOf(resolveWait), 1);
        reject(signal?.reason);
      };
      queue.push(resolveWait);
      signal?.addEventListener("abort", cancelWait);
    });
  }

  function release(): void {
    const next = queue.shift();
    if (next) next();
    else free += 1;
  }

  return {
    /** Resolves with a function that releases the slot. */
    async acquire(signal?: AbortSignal): Promise<() => void> {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else await wait(signal);
      return release;
    },
  };
}

/** Pauses all calls that share a rate limit after a 429. */
export function createPauses(clock: Clock, random: () => number) {
  const pauseEnds = new Map<string, number>();

  /** Remaining pause of a scope, ms. */
  function remaining(scope: string): number {
    const remainingTime = (pauseEnds.get(scope) ?? 0) - clock.now();
    if (remainingTime <= 0) pauseEnds.delete(scope);
    return Math.max(0, remainingTime);
  }

  return {
    remaining,
    /** Pauses the calls of a scope for `ms`. */
    pause(scope: string, ms: number): void {
      pauseEnds.set(scope, Math.max(pauseEnds.get(scope) ?? 0, clock.now() + ms));
    },
    /** Waits until the end of the pause plus a random delay, so that calls do not all resume at once. */
    async wait(scope: string, signal?: AbortSignal): Promise<void> {
      const remainingTime = remaining(scope);
      if (remainingTime > 0) await clock.sleep(remainingTime + random() * resumeJitter(remainingTime), signal);
    },
  };
}
