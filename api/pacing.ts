import type { Clock } from "./clock";
import { wakeSpread } from "./retry";

/** Limits the number of concurrent calls; further calls wait in order. */
export interface Slots {
  /** Resolves with a function that releases the slot. */
  take(signal?: AbortSignal): Promise<() => void>;
}

/** @param count Maximum number of concurrent calls. */
export function createSlots(count: number): Slots {
  let free = count;
  const queue: (() => void)[] = [];

  function wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        queue.splice(queue.indexOf(enter), 1);
        reject(signal?.reason);
      };
      queue.push(enter);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  function giveBack(): void {
    const next = queue.shift();
    if (next) next();
    else free += 1;
  }

  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else await wait(signal);
      return giveBack;
    },
  };
}

/** Pauses all calls that share a rate limit after a 429. */
interface Pauses {
  /** Remaining pause of a scope, ms. */
  remaining(scope: string): number;
  /** Pauses the calls of a scope for `ms`. */
  pause(scope: string, ms: number): void;
  /** Waits until the end of the pause plus a random delay, so that calls do not all resume at once. */
  pass(scope: string, signal?: AbortSignal): Promise<void>;
}

export function createPauses(clock: Clock, random: () => number): Pauses {
  const until = new Map<string, number>();

  function remaining(scope: string): number {
    const left = (until.get(scope) ?? 0) - clock.now();
    if (left <= 0) until.delete(scope);
    return Math.max(0, left);
  }

  return {
    remaining,
    pause(scope, ms) {
      until.set(scope, Math.max(until.get(scope) ?? 0, clock.now() + ms));
    },
    async pass(scope, signal) {
      const left = remaining(scope);
      if (left > 0) await clock.sleep(left + random() * wakeSpread(left), signal);
    },
  };
}
