import { type Clock, elapsedTime } from "serverless-compute-api/clock";
import { ShortLivedMap } from "../short-lived-map";
import type { GroupCommit } from "../store/group-commit";
import type { LiveJob, QueuedJob } from "./job";
import { createReadyQueue, type ReadyQueue, type WaitingWorker } from "./ready-queue";

export type LiveJobs = ReturnType<typeof createLiveJobs>;

/**
 * Unfinished jobs in memory, loaded from the store at start. Changes are made within the transaction that makes them durable; the start
 * of a job at a worker that ends with the service precedes its transaction. A failed transaction undoes its changes in memory.
 */
export function createLiveJobs(onRollback: GroupCommit["onRollback"]) {
  const jobs = new ShortLivedMap<string, LiveJob>();
  const queues = new Map<string, ReadyQueue>();
  const running = new Map<string, number>();

  /** The endpoint's waiting jobs and workers. */
  function queue(endpointId: string): ReadyQueue {
    const existing = queues.get(endpointId) ?? createReadyQueue();
    queues.set(endpointId, existing);
    return existing;
  }
  const count = (endpointId: string, delta: 1 | -1): void =>
    void running.set(endpointId, (running.get(endpointId) ?? 0) + delta);

  function addToIndexes(job: LiveJob): void {
    jobs.set(job.id, job);
    if (job.status === "IN_PROGRESS") count(job.endpointId, 1);
    else queue(job.endpointId).add(job);
  }
  /** Removes a job and returns it. */
  function removeFromIndexes(id: string): LiveJob | undefined {
    const job = jobs.get(id);
    if (!job) return undefined;
    jobs.delete(id);
    if (job.status === "IN_QUEUE") queue(job.endpointId).remove(job);
    else count(job.endpointId, -1);
    return job;
  }
  /** Adds a copy, because a queue accepts each object only once. */
  const restore = (job: LiveJob | undefined): void => void (job && addToIndexes({ ...job }));

  return {
    get: (id: string): LiveJob | undefined => jobs.get(id),
    all: (): Iterable<LiveJob> => jobs.values(),
    queue,
    /** Number of running jobs of an endpoint. */
    running: (endpointId: string): number => running.get(endpointId) ?? 0,
    /** Adds the stored jobs at start. */
    load(stored: LiveJob[], clock: Clock): void {
      for (const job of stored.sort((a, b) => a.place - b.place)) {
        // Only wall-clock times outlive a process. A time in the future means that the clock was set back.
        job.since = elapsedTime(clock) - Math.max(0, clock.now() - (job.startedAt ?? job.queuedAt));
        addToIndexes(job);
      }
    },
    /** Adds a job, or replaces its earlier state. */
    put(job: LiveJob): void {
      const before = removeFromIndexes(job.id);
      addToIndexes(job);
      onRollback(() => {
        removeFromIndexes(job.id);
        restore(before);
      });
    },
    /** Removes a finished or deleted job. */
    remove(id: string): void {
      const before = removeFromIndexes(id);
      onRollback(() => restore(before));
    },
    /** Removes and returns the first waiting job. */
    shift(endpointId: string): QueuedJob | undefined {
      const job = queue(endpointId).shift();
      if (job)
        onRollback(() => {
          removeFromIndexes(job.id);
          restore(job);
        });
      return job;
    },
    /** Number of waiting jobs of an endpoint. */
    waiting: (endpointId: string): number => queues.get(endpointId)?.size ?? 0,
    /** Removes and returns a waiting worker. */
    nextWaiter(endpointId: string): WaitingWorker | undefined {
      const readyQueue = queue(endpointId);
      const waiter = readyQueue.nextWaiter();
      if (waiter) onRollback(() => readyQueue.addWaiter(waiter));
      return waiter;
    },
    /** Unfinished jobs of an endpoint. */
    byEndpoint: (endpointId: string): LiveJob[] => [...jobs.values()].filter((job) => job.endpointId === endpointId),
    /** Removes the queue of a deleted endpoint without jobs and workers. */
    removeEndpoint(endpointId: string): void {
      queues.delete(endpointId);
      running.delete(endpointId);
    },
  };
}
