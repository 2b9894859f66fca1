import type { Clock } from "serverless-compute-api/clock";

interface Sleeper {
  wakeTime: number;
  wake(): void;
}

/**
 * The machine's clock plus an offset that tests increase: real processes run in real time next to it,
 * and half an hour of retention elapses immediately.
 */
export class OffsetClock implements Clock {
  #offset = 0;
  #frozenAt: number | undefined;
  #sleepers = new Set<Sleeper>();

  now(): number {
    return (this.#frozenAt ?? Date.now()) + this.#offset;
  }

  /** Stops the clock except for `advance` until the result is called, so that the duration of requests does not matter. */
  freeze(): () => void {
    this.#frozenAt ??= Date.now();
    return () => {
      this.#frozenAt = undefined;
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const settleOnce = (settle: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#sleepers.delete(sleeper);
        settle();
      };
      const onAbort = (): void => settleOnce(() => reject(signal?.reason));
      const sleeper: Sleeper = { wakeTime: this.now() + ms, wake: () => settleOnce(resolve) };
      const timer = setTimeout(sleeper.wake, Math.max(0, ms));
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  /** Advances the clock by `ms`; due sleepers wake in order. */
  async advance(ms: number): Promise<void> {
    this.#offset += ms;
    const due = [...this.#sleepers]
      .filter((sleeper) => sleeper.wakeTime <= this.now())
      .sort((a, b) => a.wakeTime - b.wakeTime);
    for (const sleeper of due) {
      sleeper.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
