import type { Clock } from "serverless-compute-api/clock";
import { ShortLivedMap } from "../short-lived-map";
import type { Worker } from "./worker";

/** Long polls: calls of workers that are held open until an event or a timeout. */
export function createLongPolls(clock: Clock) {
  const polls = new ShortLivedMap<Worker, ShortLivedMap<AbortController, true>>();
  /** Ends the open long polls of a worker. */
  const end = (worker: Worker): void => {
    for (const poll of [...(polls.get(worker)?.keys() ?? [])]) poll.abort();
  };
  return {
    /** Holds a request until `ms` have passed, the polls of the worker are ended, or the client disconnects (`signal`). */
    async run<Result>(
      worker: Worker,
      ms: number,
      signal: AbortSignal,
      call: (pollEnd: AbortSignal) => Promise<Result>,
    ): Promise<Result> {
      const poll = new AbortController();
      const endPoll = (): void => poll.abort();
      const workerPolls = polls.get(worker) ?? new ShortLivedMap();
      workerPolls.set(poll, true);
      polls.set(worker, workerPolls);
      signal.addEventListener("abort", endPoll);
      if (signal.aborted) endPoll();
      void clock.sleep(ms, poll.signal).then(endPoll, () => undefined);
      try {
        return await call(poll.signal);
      } finally {
        endPoll();
        signal.removeEventListener("abort", endPoll);
        workerPolls.delete(poll);
        if (workerPolls.size === 0) polls.delete(worker);
      }
    },
    end,
    endAll(): void {
      for (const worker of [...polls.keys()]) end(worker);
    },
  };
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
