import { createScheduler } from "../scheduler";
import { ShortLivedMap } from "../short-lived-map";
import type { SteadyClock } from "../steady-clock";
import type { JobEvents } from "./events";
import type { StoredJob } from "./row";

type OnEnd = (ended?: StoredJob) => void;

export type PendingRequests = ReturnType<typeof createPendingRequests>;

interface Wait {
  jobId: string;
  includesChunks: boolean;
  /** The latest end of the wait, in the clock's time. */
  deadline: number;
  onEnd: OnEnd;
}

/** Requests of clients, such as /runsync and /stream, that are open until a job changes. */
export function createPendingRequests(events: JobEvents, clock: SteadyClock) {
  const waiting = new ShortLivedMap<string, Wait[]>();
  let closed = false;
  let started = false;
  // One timer for all waits, set to the earliest end, because most jobs end long before.
  const scheduler = createScheduler(
    clock,
    async () => endOverdue(),
    () => undefined,
  );

  function allWaits(): Wait[] {
    return [...waiting.values()].flat();
  }
  function endOverdue(): number | undefined {
    const now = clock.now();
    for (const wait of allWaits()) if (wait.deadline <= now) endWait(wait);
    return waiting.size > 0 ? Math.min(...allWaits().map(({ deadline }) => deadline)) : undefined;
  }
  /** Removes a wait; returns false if it has already ended. */
  function removeWait(wait: Wait): boolean {
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
  function endWait(wait: Wait, ended?: StoredJob): void {
    if (removeWait(wait)) wait.onEnd(ended);
  }
  function endWaits(jobId: string, isChunk: boolean, ended?: StoredJob): void {
    for (const wait of waiting.get(jobId) ?? []) if (wait.includesChunks || !isChunk) endWait(wait, ended);
  }
  events.on("ended", (job, _before, output) => endWaits(job.id, false, { job, output }));
  events.on("removed", ({ id }) => endWaits(id, false));
  events.on("streamed", ({ id }) => endWaits(id, true));

  /**
   * Calls `onEnd`, which must not throw, once: with the job when it ends, or without a job when it is removed, after `ms`, or when all waits
   * are closed. With `includesChunks`, also calls it when a stream chunk arrives. Returns a function that cancels the wait without calling it.
   */
  function startWait(jobId: string, ms: number, onEnd: OnEnd, includesChunks = false): () => void {
    if (closed) {
      onEnd();
      return () => undefined;
    }
    const wait: Wait = { jobId, includesChunks, deadline: clock.now() + ms, onEnd };
    const existing = waiting.get(jobId);
    if (existing) existing.push(wait);
    else waiting.set(jobId, [wait]);
    scheduler.schedule(wait.deadline);
    // Its timer keeps the process alive, even if the start of the service fails.
    if (!started) scheduler.start();
    started = true;
    return () => void removeWait(wait);
  }

  return {
    wait: startWait,
    /** Like `wait`, but returns a promise; aborting the signal resolves it. */
    waitForChange: (jobId: string, ms: number, signal: AbortSignal, includesChunks: boolean): Promise<void> =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const finish = (): void => {
          signal.removeEventListener("abort", abort);
          resolve();
        };
        const cancelWait = startWait(jobId, ms, finish, includesChunks);
        function abort(): void {
          cancelWait();
          finish();
        }
        signal.addEventListener("abort", abort);
      }),
    get closed(): boolean {
      return closed;
    },
    /** Ends all waits; waits that begin later end immediately. */
    close(): void {
      closed = true;
      for (const wait of allWaits()) endWait(wait);
      void scheduler.stop();
    },
  };
}
