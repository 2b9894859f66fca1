import type { Clock } from "serverless-compute-api/clock";
import type { JobTimings } from "../jobs/timings";
import { ShortLivedMap } from "../short-lived-map";
import type { Worker } from "./registry";

/** Long polls: calls of workers that are held open until an event or a timeout. */
export function createLongPolls(clock: Clock) {
  const polls = new ShortLivedMap<Worker, ShortLivedMap<AbortController, true>>();
  /** Ends the open long polls of a worker. */
  const wake = (worker: Worker): void => {
    for (const until of [...(polls.get(worker)?.keys() ?? [])]) until.abort();
  };
  return {
    /** Holds a request until `ms` have passed, the worker is woken, or the client disconnects (`signal`). */
    async held<Result>(
      worker: Worker,
      ms: number,
      signal: AbortSignal,
      call: (until: AbortSignal) => Promise<Result>,
    ): Promise<Result> {
      const until = new AbortController();
      const end = (): void => until.abort();
      const all = polls.get(worker) ?? new ShortLivedMap();
      all.set(until, true);
      polls.set(worker, all);
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
    wakeAll(): void {
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

/** Interval at which the request to stop a job is repeated, ms: the job may reach the worker after the first request. */
const repeatHold = 1000;

/** Job-stops: the workers' long polls for jobs to stop. */
export function createStopPolls(clock: Clock, { stopHold }: Pick<JobTimings, "stopHold">) {
  const { held, wake, wakeAll } = createLongPolls(clock);
  return {
    wake,
    wakeAll,
    /** Resolves with the ids of jobs that the worker must stop; waits for the first. */
    async poll(worker: Worker, signal: AbortSignal): Promise<string[]> {
      const unsent = [...worker.stopping].filter(([, stop]) => !stop.sent);
      for (const [, stop] of unsent) stop.sent = true;
      if (unsent.length > 0) return unsent.map(([jobId]) => jobId);
      await held(worker, worker.stopping.size > 0 ? repeatHold : stopHold, signal, aborted);
      return [...worker.stopping.keys()];
    },
  };
}
