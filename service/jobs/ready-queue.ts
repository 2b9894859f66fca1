import type { QueuedJob, TakenJob } from "./job";
import { createOrderedQueue } from "./ordered-queue";

/** A worker that waits for a job. */
export interface Taker {
  workerId: string;
  /** Whether it gets a job only when nobody else waits for one. */
  last?: boolean;
  /** Whether the worker ends with the service: it may begin with a job before the store knows. */
  endsWithService?: boolean;
  /** The job is the worker's: called once. */
  give(taken: TakenJob): void;
}

/** One endpoint's waiting jobs and waiting workers; there are never both. */
export interface ReadyQueue {
  /** Waiting jobs. */
  readonly size: number;
  add(job: QueuedJob): void;
  /** Whether it was there. */
  remove(job: QueuedJob): boolean;
  readonly first: QueuedJob | undefined;
  /** Takes the first job out. */
  shift(): QueuedJob | undefined;
  /** The waiting jobs that may start workers, in take order: all but those of low priority. */
  readonly pressing: Iterable<QueuedJob>;
  /** All waiting jobs, in no order. */
  all(): Iterable<QueuedJob>;
  /** Whether a worker waits. */
  readonly hasTaker: boolean;
  /** A worker waits for a job. */
  wait(taker: Taker): void;
  /** A worker waits no more; false when it was not waiting. */
  leave(taker: Taker): boolean;
  /** Takes the worker out that began to wait last, one that is `last` only after all others: these may fall idle and go. With `endsWithService`, only one that does. */
  nextTaker(endsWithService?: boolean): Taker | undefined;
}

export function createReadyQueue(): ReadyQueue {
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
    get size() {
      return normal.size + low.size;
    },
    add: (job) => queueOf(job).add(job),
    remove: (job) => queueOf(job).remove(job),
    get first() {
      return firstQueue().first;
    },
    shift: () => firstQueue().shift(),
    pressing: normal,
    *all() {
      yield* normal;
      yield* low;
    },
    get hasTaker() {
      return takers.length > 0;
    },
    wait: (taker) => void (taker.last ? takers.unshift(taker) : takers.push(taker)),
    leave(taker) {
      const at = takers.lastIndexOf(taker);
      if (at !== -1) takers.splice(at, 1);
      return at !== -1;
    },
    nextTaker: (endsWithService) => (endsWithService && !takers.at(-1)?.endsWithService ? undefined : takers.pop()),
  };
}
