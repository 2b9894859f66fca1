import type { Clock } from "serverless-compute-api/clock";
import { ShortLivedMap } from "../short-lived-map";
import { createAlarm } from "./alarm";
import type { JobEvents } from "./events";
import type { StoredJob } from "./row";
import { createTimerQueue } from "./timer-queue";

type Done = (ended?: StoredJob) => void;

export type JobWaits = ReturnType<typeof createJobWaits>;

interface Wait {
  jobId: string;
  chunks: boolean;
  /** Undefined once it was called, or left: the timer stays for a while, and must not keep the client's response. */
  done: Done | undefined;
}

/**
 * How long the transactions that end jobs are apart while so many clients wait, ms: at 128 clients a sixth more jobs per second than
 * 1 ms brings, while 16 would all wait for it, and the workers would have nothing to do.
 */
export const commitWindow = (waits: number): number => Math.min(3, Math.max(1, waits / 40));

/** Waits that end in one turn. */
const batch = 1000;

/** Waits for jobs on behalf of clients. */
export function createJobWaits(events: JobEvents, clock: Clock) {
  const waiting = new ShortLivedMap<string, Wait[]>();
  let size = 0;
  let closed = false;
  // One timer for all of them: most jobs are over long before the time of who waits for them.
  const timers = createTimerQueue<Wait>(
    ({ done }) => done !== undefined,
    () => size,
  );
  const alarm = createAlarm(
    clock,
    async () => endLate(),
    () => undefined,
  );

  function endLate(): number | undefined {
    for (let late = timers.due(clock.now(), batch); late.length > 0; late = timers.due(clock.now(), batch)) {
      for (const wait of late) leave(wait)?.();
    }
    return timers.next();
  }
  /** Ends a wait; returns what to call. */
  function leave(wait: Wait): Done | undefined {
    const { done } = wait;
    if (!done) return undefined;
    wait.done = undefined;
    size--;
    const left = waiting.get(wait.jobId)?.filter((one) => one !== wait) ?? [];
    if (left.length > 0) waiting.set(wait.jobId, left);
    else waiting.delete(wait.jobId);
    return done;
  }
  function wake(jobId: string, isChunk: boolean, ended?: StoredJob): void {
    for (const wait of waiting.get(jobId) ?? []) if (wait.chunks || !isChunk) leave(wait)?.(ended);
  }
  events.on("ended", (job, _before, output) => wake(job.id, false, { job, output }));
  events.on("removed", ({ id }) => wake(id, false));
  events.on("streamed", ({ id }) => wake(id, true));
  alarm.start();

  /**
   * Calls `done` once: with the job when it is over; without it when it is gone, when `ms` have passed or when all waits
   * end; with `chunks`, also when a stream chunk came in. Returns what ends the wait without a call.
   */
  function begin(jobId: string, ms: number, done: Done, chunks = false): () => void {
    if (closed) {
      done();
      return () => undefined;
    }
    const wait: Wait = { jobId, chunks, done };
    size++;
    const others = waiting.get(jobId);
    if (others) others.push(wait);
    else waiting.set(jobId, [wait]);
    const end = clock.now() + ms;
    timers.add(end, wait);
    alarm.by(end);
    return () => void leave(wait);
  }

  return {
    wait: begin,
    /** The same as a promise, which an aborted signal resolves, too. */
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
    /** How many there are. */
    get size(): number {
      return size;
    },
    /** Ends all waits; from then on none begins. */
    close(): void {
      closed = true;
      for (const waits of [...waiting.values()]) for (const wait of waits) leave(wait)?.();
      void alarm.stop();
    },
  };
}
