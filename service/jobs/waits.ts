import type { Clock } from "serverless-compute-api/clock";
import { ShortLivedMap } from "../short-lived-map";
import { createAlarm } from "./alarm";
import type { JobEvents } from "./events";
import type { StoredJob } from "./row";

type Done = (ended?: StoredJob) => void;

export type JobWaits = ReturnType<typeof createJobWaits>;

interface Wait {
  jobId: string;
  chunks: boolean;
  /** The latest end of the wait, in the clock's time. */
  end: number;
  done: Done;
}

/** Lets clients wait for jobs. */
export function createJobWaits(events: JobEvents, clock: Clock) {
  const waiting = new ShortLivedMap<string, Wait[]>();
  let closed = false;
  // One timer for all waits, set to the earliest end, because most jobs end long before.
  const alarm = createAlarm(
    clock,
    async () => endLate(),
    () => undefined,
  );

  function all(): Wait[] {
    return [...waiting.values()].flat();
  }
  function endLate(): number | undefined {
    const now = clock.now();
    for (const wait of all()) if (wait.end <= now) end(wait);
    return waiting.size > 0 ? Math.min(...all().map(({ end }) => end)) : undefined;
  }
  /** Removes a wait; returns false if it has already ended. */
  function leave(wait: Wait): boolean {
    const waits = waiting.get(wait.jobId);
    if (!waits?.includes(wait)) return false;
    if (waits.length > 1)
      waiting.set(
        wait.jobId,
        waits.filter((other) => other !== wait),
      );
    else waiting.delete(wait.jobId);
    return true;
  }
  function end(wait: Wait, ended?: StoredJob): void {
    if (leave(wait)) wait.done(ended);
  }
  function wake(jobId: string, isChunk: boolean, ended?: StoredJob): void {
    for (const wait of waiting.get(jobId) ?? []) if (wait.chunks || !isChunk) end(wait, ended);
  }
  events.on("ended", (job, _before, output) => wake(job.id, false, { job, output }));
  events.on("removed", ({ id }) => wake(id, false));
  events.on("streamed", ({ id }) => wake(id, true));
  alarm.start();

  /**
   * Calls `done` once: with the job when it ends, or without a job when it is removed, after `ms`, or when all waits are closed. With
   * `chunks`, also calls it when a stream chunk arrives. Returns a function that cancels the wait without calling `done`.
   */
  function begin(jobId: string, ms: number, done: Done, chunks = false): () => void {
    if (closed) {
      done();
      return () => undefined;
    }
    const wait: Wait = { jobId, chunks, end: clock.now() + ms, done };
    const others = waiting.get(jobId);
    if (others) others.push(wait);
    else waiting.set(jobId, [wait]);
    alarm.by(wait.end);
    return () => void leave(wait);
  }

  return {
    wait: begin,
    /** Like `wait`, but returns a promise; aborting the signal resolves it. */
    news: (jobId: string, ms: number, signal: AbortSignal, chunks: boolean): Promise<void> =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const end = (): void => {
          signal.removeEventListener("abort", abort);
          resolve();
        };
        const leaveNow = begin(jobId, ms, end, chunks);
        function abort(): void {
          leaveNow();
          end();
        }
        signal.addEventListener("abort", abort, { once: true });
      }),
    get closed(): boolean {
      return closed;
    },
    /** Ends all waits; waits that begin later end immediately. */
    close(): void {
      closed = true;
      for (const wait of all()) end(wait);
      void alarm.stop();
    },
  };
}
