import type { QueuedJob, TakenJob } from "./job";
import { createOrderedQueue } from "./ordered-queue";

/** A worker that waits for a job. */
export interface Taker {
  workerId: string;
  /** The worker gets a job only if no other worker waits. */
  last?: boolean;
  /** The worker ends with the service, so it may start a job before the commit; a kill requeues the job in both cases. */
  endsWithService?: boolean;
  /** Receives the assigned job; called once. */
  give(taken: TakenJob): void;
}

export type ReadyQueue = ReturnType<typeof createReadyQueue>;

/** Waiting jobs or waiting workers of one endpoint, never both. */
export function createReadyQueue() {
  const normal = createOrderedQueue<QueuedJob>();
  // Low-priority jobs do not start workers, and a search for jobs that do must not read thousands of them.
  const low = createOrderedQueue<QueuedJob>();
  const takers: Taker[] = [];
  const queueOf = ({ lowPriority }: QueuedJob) => (lowPriority ? low : normal);
  function firstQueue() {
    const [firstNormal, firstLow] = [normal.first, low.first];
    return firstNormal && (!firstLow || firstNormal.place < firstLow.place) ? normal : low;
  }
  return {
    /** Number of waiting jobs. */
    get size(): number {
      return normal.size + low.size;
    },
    add: (job: QueuedJob): void => queueOf(job).add(job),
    /** Returns whether the job was in the queue. */
    remove: (job: QueuedJob): boolean => queueOf(job).remove(job),
    get first(): QueuedJob | undefined {
      return firstQueue().first;
    },
    /** Removes and returns the first job. */
    shift: (): QueuedJob | undefined => firstQueue().shift(),
    /** Waiting jobs that may start workers (all except low-priority jobs), in queue order. */
    get pressing(): Iterable<QueuedJob> {
      return normal;
    },
    /** All waiting jobs, in no particular order. */
    *all(): Iterable<QueuedJob> {
      yield* normal;
      yield* low;
    },
    /** True if a worker waits. */
    get hasTaker(): boolean {
      return takers.length > 0;
    },
    /** Adds a waiting worker. */
    wait: (taker: Taker): void => void (taker.last ? takers.unshift(taker) : takers.push(taker)),
    /** Removes a waiting worker; returns false if it was not waiting. */
    leave(taker: Taker): boolean {
      const at = takers.lastIndexOf(taker);
      if (at !== -1) takers.splice(at, 1);
      return at !== -1;
    },
    /**
     * Removes and returns the worker that began to wait most recently, so that the others may become idle and stop. Workers with `last`
     * come after all others.
     */
    nextTaker: (): Taker | undefined => takers.pop(),
  };
}
