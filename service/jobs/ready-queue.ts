import type { QueuedJob, TakenJob } from "./job";
import { createOrderedQueue } from "./ordered-queue";

/** A worker that waits for a job. */
export interface Taker {
  workerId: string;
  /** Gets a job only if no other worker waits. */
  last?: boolean;
  /** The worker ends with the service, so it may start a job before that is committed: a kill requeues the job either way. */
  endsWithService?: boolean;
  /** Receives the assigned job; called once. */
  give(taken: TakenJob): void;
}

export type ReadyQueue = ReturnType<typeof createReadyQueue>;

/** One endpoint's waiting jobs or waiting workers; never both at once. */
export function createReadyQueue() {
  const normal = createOrderedQueue<QueuedJob>();
  // A separate queue: a search for jobs that start workers must not read thousands that do not.
  const low = createOrderedQueue<QueuedJob>();
  const takers: Taker[] = [];
  const queueOf = ({ lowPriority }: QueuedJob) => (lowPriority ? low : normal);
  function firstQueue() {
    const [one, other] = [normal.first, low.first];
    return one && (!other || one.place < other.place) ? normal : low;
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
    /** The waiting jobs that may start workers, in take order: all but those of low priority. */
    get pressing(): Iterable<QueuedJob> {
      return normal;
    },
    /** All waiting jobs, in no order. */
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
    /** Removes a waiting worker; false if it did not wait. */
    leave(taker: Taker): boolean {
      const at = takers.lastIndexOf(taker);
      if (at !== -1) takers.splice(at, 1);
      return at !== -1;
    },
    /**
     * Removes and returns the worker that began to wait last, so that the others may become idle and stop; one with `last` comes after
     * all others.
     */
    nextTaker: (): Taker | undefined => takers.pop(),
  };
}
