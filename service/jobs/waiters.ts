import type { Clock } from "serverless-compute-api/clock";
import type { JobEvents } from "./events";

/** Waits for jobs on behalf of clients. */
export interface JobWaiters {
  /** Resolves when the job is over or gone, when `ms` have passed, or when the signal aborts. */
  over(jobId: string, ms: number, signal: AbortSignal): Promise<void>;
  /** The same, and also when a stream chunk came in. */
  news(jobId: string, ms: number, signal: AbortSignal): Promise<void>;
  /** Ends all waits; from then on none begins. */
  close(): void;
  readonly closed: boolean;
}

interface Waiter {
  chunks: boolean;
  done: AbortController;
}

export function createJobWaiters(events: JobEvents, clock: Clock): JobWaiters {
  const waiting = new Map<string, Set<Waiter>>();
  let closed = false;
  const tell = (jobId: string, isChunk: boolean): void => {
    for (const waiter of waiting.get(jobId) ?? []) if (waiter.chunks || !isChunk) waiter.done.abort();
  };
  events.on("ended", ({ id }) => tell(id, false));
  events.on("removed", ({ id }) => tell(id, false));
  events.on("streamed", ({ id }) => tell(id, true));

  async function wait(jobId: string, ms: number, chunks: boolean, signal: AbortSignal): Promise<void> {
    if (closed || signal.aborted) return;
    const waiter: Waiter = { chunks, done: new AbortController() };
    const leave = (): void => waiter.done.abort();
    const all = waiting.get(jobId) ?? new Set();
    waiting.set(jobId, all.add(waiter));
    signal.addEventListener("abort", leave, { once: true });
    // Woken before the time, the caller looks for itself what there is.
    await clock.sleep(ms, waiter.done.signal).catch(() => undefined);
    signal.removeEventListener("abort", leave);
    all.delete(waiter);
    if (all.size === 0) waiting.delete(jobId);
  }

  return {
    over: (jobId, ms, signal) => wait(jobId, ms, false, signal),
    news: (jobId, ms, signal) => wait(jobId, ms, true, signal),
    get closed() {
      return closed;
    },
    close() {
      closed = true;
      for (const all of waiting.values()) for (const { done } of all) done.abort();
    },
  };
}
