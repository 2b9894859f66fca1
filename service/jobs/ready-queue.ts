import type { JobDelivery, QueuedJob } from "./job";
import { createOrderedQueue } from "./ordered-queue";

/** A worker that waits for a job. */
export interface WaitingWorker {
  workerId: string;
  /** The worker gets a job only if no other worker waits. */
  isLastResort?: boolean;
  /** The worker ends with the service, so it may start a job before the commit; a kill requeues the job in both cases. */
  endsWithService?: boolean;
  /** Receives the assigned job; called once. */
  deliver(delivery: JobDelivery): void;
}

export type ReadyQueue = ReturnType<typeof createReadyQueue>;

/** Waiting jobs or waiting workers of one endpoint, never both. */
export function createReadyQueue() {
  const normalPriorityJobs = createOrderedQueue<QueuedJob>();
  // Low-priority jobs do not start workers, and a search for jobs that do must not read thousands of them.
  const lowPriorityJobs = createOrderedQueue<QueuedJob>();
  const waiters: WaitingWorker[] = [];
  const queueOf = ({ lowPriority }: QueuedJob) => (lowPriority ? lowPriorityJobs : normalPriorityJobs);
  function queueOfFirst() {
    const [firstNormal, firstLow] = [normalPriorityJobs.first, lowPriorityJobs.first];
    return firstNormal && (!firstLow || firstNormal.place < firstLow.place) ? normalPriorityJobs : lowPriorityJobs;
  }
  return {
    /** Number of waiting jobs. */
    get size(): number {
      return normalPriorityJobs.size + lowPriorityJobs.size;
    },
    add: (job: QueuedJob): void => queueOf(job).add(job),
    remove: (job: QueuedJob): void => queueOf(job).remove(job),
    get first(): QueuedJob | undefined {
      return queueOfFirst().first;
    },
    /** Removes and returns the first job. */
    shift: (): QueuedJob | undefined => queueOfFirst().shift(),
    /** Waiting jobs that may start workers (all except low-priority jobs), in queue order. */
    get jobsForScaling(): Iterable<QueuedJob> {
      return normalPriorityJobs;
    },
    /** True if a worker waits. */
    get hasWaiter(): boolean {
      return waiters.length > 0;
    },
    /** Adds a waiting worker. */
    addWaiter: (waiter: WaitingWorker): void =>
      void (waiter.isLastResort ? waiters.unshift(waiter) : waiters.push(waiter)),
    /** Removes a waiting worker. */
    removeWaiter(waiter: WaitingWorker): void {
      const index = waiters.lastIndexOf(waiter);
      if (index !== -1) waiters.splice(index, 1);
    },
    /**
     * Removes and returns the worker that began to wait most recently, so that the others may become idle and stop. Workers with `isLastResort`
     * come after all others.
     */
    nextWaiter: (): WaitingWorker | undefined => waiters.pop(),
  };
}
