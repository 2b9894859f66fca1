import type { Clock } from "serverless-compute-api/clock";

interface Sleeper {
  at: number;
  wake(): void;
}

/**
 * The machine's clock plus an offset that tests increase: real processes run in real time next to it,
 * and half an hour of retention elapses immediately.
 */
export class LeapingClock implements Clock {
  #lead = 0;
  #heldAt: number | undefined;
  #sleepers = new Set<Sleeper>();

  now(): number {
    return (this.#heldAt ?? Date.now()) + this.#lead;
  }

  /** Stops the clock except for leaps until the result is called, so that the duration of requests does not matter. */
  hold(): () => void {
    this.#heldAt ??= Date.now();
    return () => {
      this.#heldAt = undefined;
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#sleepers.delete(sleeper);
        settle();
      };
      const onAbort = (): void => end(() => reject(signal?.reason));
      const sleeper: Sleeper = { at: this.now() + ms, wake: () => end(resolve) };
      const timer = setTimeout(sleeper.wake, Math.max(0, ms));
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  /** Leaps by `ms`; sleepers that are due wake in order. */
  async leap(ms: number): Promise<void> {
    this.#lead += ms;
    const due = [...this.#sleepers].filter((one) => one.at <= this.now()).sort((a, b) => a.at - b.at);
    for (const sleeper of due) {
      sleeper.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
