import type { Clock } from "serverless-compute-api/clock";
import type { Worker } from "./registry";

/** Calls of workers that are held open until there is something to say. */
export interface LongPolls {
  /** LongPolls a call until `ms` have passed, somebody wakes the worker, or the caller is gone (`signal`). */
  held<Result>(
    worker: Worker,
    ms: number,
    signal: AbortSignal,
    call: (until: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
  /** Ends the held calls of a worker. */
  wake(worker: Worker): void;
  wakeAll(): void;
}

export function createLongPolls(clock: Clock): LongPolls {
  const polls = new Map<Worker, Set<AbortController>>();
  const wake = (worker: Worker): void => {
    for (const until of [...(polls.get(worker) ?? [])]) until.abort();
  };
  return {
    async held(worker, ms, signal, call) {
      const until = new AbortController();
      const end = (): void => until.abort();
      const all = polls.get(worker) ?? new Set();
      polls.set(worker, all.add(until));
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
      void clock.sleep(ms, until.signal).then(end, () => undefined);
      try {
        return await call(until.signal);
      } finally {
        end();
        signal.removeEventListener("abort", end);
        all.delete(until);
        if (all.size === 0) polls.delete(worker);
      }
    },
    wake,
    wakeAll() {
      for (const worker of [...polls.keys()]) wake(worker);
    },
  };
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
