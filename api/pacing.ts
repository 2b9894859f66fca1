import type { Clock } from "./clock";
import { wakeSpread } from "./retry";

/** Lets a limited number of calls run at once, the others wait in order. */
export interface Slots {
  /** Resolves with the function that gives the slot back. */
  take(signal?: AbortSignal): Promise<() => void>;
}

/** @param count Calls at once. */
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

/** Holds back all calls that share a limit once the service said "too many". */
interface Pauses {
  /** Milliseconds that calls of this scope are still to wait. */
  remaining(scope: string): number;
  /** Pauses the calls of this scope for `ms`. */
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
