import type { Clock } from "serverless-compute-api/clock";

interface Sleeper {
  wakeTime: number;
  wake(): void;
}

/** A clock that advances only when a test advances it. `change` sets the system time, as a user or a time server does. */
export class ManualClock implements Clock {
  #now: number;
  #change = 0;
  #sleepers: Sleeper[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now + this.#change;
  }

  elapsed(): number {
    return this.#now;
  }

  /** Changes the system time by `ms` without advancing the clock. */
  change(ms: number): void {
    this.#change += ms;
  }

  /** Pending sleepers. */
  get waiting(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper: Sleeper = { wakeTime: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener(
        "abort",
        () => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  /** Advances the time by `ms`, waking sleepers in order; work started by a sleeper runs before the next sleeper wakes. */
  async advance(ms: number): Promise<void> {
    const endTime = this.#now + ms;
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#sleepers
        .filter((other) => other.wakeTime <= endTime)
        .sort((a, b) => a.wakeTime - b.wakeTime)[0];
      if (!next) break;
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.wakeTime);
      next.wake();
    }
    this.#now = endTime;
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Advances the time whenever something sleeps, until the work ends; returns its result. Stops during requests. */
  async advanceUntil<Result>(work: Promise<Result>): Promise<Result> {
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
    };
    work.then(end, end);
    while (!hasEnded) {
      if (this.waiting > 0) await this.advance(50);
      else await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return work;
  }
}
