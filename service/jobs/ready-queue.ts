import type { QueuedJob, TakenJob } from "./job";
import { createOrderedQueue } from "./ordered-queue";

/** A worker that waits for a job. */
export interface WaitingWorker {
  workerId: string;
  /** The worker gets a job only if no other worker waits. */
  last?: boolean;
  /** The worker ends with the service, so it may start a job before the commit; a kill requeues the job in both cases. */
  endsWithService?: boolean;
  /** Receives the assigned job; called once. */
  deliver(taken: TakenJob): void;
}

export type ReadyQueue = ReturnType<typeof createReadyQueue>;

/** Waiting jobs or waiting workers of one endpoint, never both. */
export function createReadyQueue() {
  const normal = createOrderedQueue<QueuedJob>();
  // Low-priority jobs do not start workers, and a search for jobs that do must not read thousands of them.
  const low = createOrderedQueue<QueuedJob>();
  const waiters: WaitingWorker[] = [];
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
    remove: (job: QueuedJob): void => queueOf(job).remove(job),
    get first(): QueuedJob | undefined {
      return firstQueue().first;
    },
    /** Removes and returns the first job. */
    shift: (): QueuedJob | undefined => firstQueue().shift(),
    /** Waiting jobs that may start workers (all except low-priority jobs), in queue order. */
    get pressing(): Iterable<QueuedJob> {
      return normal;
    },
    /** True if a worker waits. */
    get hasWorker(): boolean {
      return waiters.length > 0;
    },
    /** Adds a waiting worker. */
    wait: (waiter: WaitingWorker): void => void (waiter.last ? waiters.unshift(waiter) : waiters.push(waiter)),
    /** Removes a waiting worker. */
    leave(waiter: WaitingWorker): void {
      const at = waiters.lastIndexOf(waiter);
      if (at !== -1) waiters.splice(at, 1);
    },
    /**
     * Removes and returns the worker that began to wait most recently, so that the others may become idle and stop. Workers with `last`
     * come after all others.
     */
    nextWorker: (): WaitingWorker | undefined => waiters.pop(),
  };
}
