import type { QueuedJob, TakenJob } from "./job";
import { createOrderedQueue } from "./ordered-queue";

/** A worker that waits for a job. */
export interface Taker {
  workerId: string;
  /** True if it gets a job only when nobody else waits for one. */
  last?: boolean;
  /** True if the worker ends with the service: it may begin with a job before the store knows. */
  endsWithService?: boolean;
  /** The job is the worker's: called once. */
  give(taken: TakenJob): void;
}

export type ReadyQueue = ReturnType<typeof createReadyQueue>;

/** One endpoint's waiting jobs and waiting workers; there are never both. */
export function createReadyQueue() {
  const normal = createOrderedQueue<QueuedJob>();
  // A queue of its own, so that a look for jobs that start workers does not pass thousands that do not.
  const low = createOrderedQueue<QueuedJob>();
  const takers: Taker[] = [];
  const queueOf = ({ lowPriority }: QueuedJob) => (lowPriority ? low : normal);
  function firstQueue() {
    const [one, other] = [normal.first, low.first];
    return one && (!other || one.place < other.place) ? normal : low;
  }
  return {
    /** Waiting jobs. */
    get size(): number {
      return normal.size + low.size;
    },
    add: (job: QueuedJob): void => queueOf(job).add(job),
    /** Returns true if it was there. */
    remove: (job: QueuedJob): boolean => queueOf(job).remove(job),
    get first(): QueuedJob | undefined {
      return firstQueue().first;
    },
    /** Takes the first job out. */
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
    /** A worker waits for a job. */
    wait: (taker: Taker): void => void (taker.last ? takers.unshift(taker) : takers.push(taker)),
    /** A worker waits no more; false when it was not waiting. */
    leave(taker: Taker): boolean {
      const at = takers.lastIndexOf(taker);
      if (at !== -1) takers.splice(at, 1);
      return at !== -1;
    },
    /**
     * Takes the worker out that began to wait last, one that is `last` only after all others: these may fall idle and go. With
     * `endsWithService`, only one that does.
     */
    nextTaker: (endsWithService?: boolean): Taker | undefined =>
      endsWithService && !takers.at(-1)?.endsWithService ? undefined : takers.pop(),
  };
}
