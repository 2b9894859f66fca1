import { ShortLivedMap } from "../short-lived-map";
import type { GroupCommit } from "../store/group-commit";
import type { LiveJob, QueuedJob } from "./job";
import { createReadyQueue, type ReadyQueue, type Taker } from "./ready-queue";

export type LiveJobs = ReturnType<typeof createLiveJobs>;

/**
 * The jobs that are not over, in memory. They are loaded from the store at the start and changed within the transactions that make
 * a change durable, or before, when a job starts at a worker that ends with the service. A failed transaction undoes its changes here.
 */
export function createLiveJobs(onRollback: GroupCommit["onRollback"]) {
  const jobs = new ShortLivedMap<string, LiveJob>();
  const queues = new Map<string, ReadyQueue>();
  const running = new Map<string, number>();

  /** The endpoint's waiting jobs and workers. */
  function queue(endpointId: string): ReadyQueue {
    const found = queues.get(endpointId) ?? createReadyQueue();
    queues.set(endpointId, found);
    return found;
  }
  const count = (endpointId: string, change: 1 | -1): void =>
    void running.set(endpointId, (running.get(endpointId) ?? 0) + change);

  function enter(job: LiveJob): void {
    jobs.set(job.id, job);
    if (job.status === "IN_PROGRESS") count(job.endpointId, 1);
    else queue(job.endpointId).add(job);
  }
  /** Removes a job and returns it. */
  function leave(id: string): LiveJob | undefined {
    const job = jobs.get(id);
    if (!job) return undefined;
    jobs.delete(id);
    if (job.status === "IN_QUEUE") queue(job.endpointId).remove(job);
    else count(job.endpointId, -1);
    return job;
  }
  /** Adds a copy: a queue accepts an object once only. */
  const enterAgain = (job: LiveJob | undefined): void => void (job && enter({ ...job }));

  return {
    get: (id: string): LiveJob | undefined => jobs.get(id),
    get size(): number {
      return jobs.size;
    },
    all: (): Iterable<LiveJob> => jobs.values(),
    queue,
    /** Number of an endpoint's running jobs. */
    running: (endpointId: string): number => running.get(endpointId) ?? 0,
    /** Adds the jobs of the store at the start. */
    load(found: LiveJob[]): void {
      for (const job of found.sort((one, other) => one.place - other.place)) enter(job);
    },
    /** Adds a job, or replaces its earlier state. */
    put(job: LiveJob): void {
      const before = leave(job.id);
      enter(job);
      onRollback(() => {
        leave(job.id);
        enterAgain(before);
      });
    },
    /** Removes a job that is over or deleted. */
    drop(id: string): void {
      const before = leave(id);
      onRollback(() => enterAgain(before));
    },
    /** Removes the first waiting job from the queue, for a worker or because it expired. */
    shift(endpointId: string): QueuedJob | undefined {
      const job = queue(endpointId).shift();
      if (job)
        onRollback(() => {
          leave(job.id);
          enterAgain(job);
        });
      return job;
    },
    /** Number of an endpoint's waiting jobs. */
    waiting: (endpointId: string): number => queue(endpointId).size,
    /** Removes a waiting worker from the queue. */
    nextTaker(endpointId: string): Taker | undefined {
      const waiting = queue(endpointId);
      const taker = waiting.nextTaker();
      if (taker) onRollback(() => waiting.wait(taker));
      return taker;
    },
    /** An endpoint's jobs. */
    of: (endpointId: string): LiveJob[] => [...jobs.values()].filter((job) => job.endpointId === endpointId),
    forget(endpointId: string): void {
      queues.delete(endpointId);
      running.delete(endpointId);
    },
  };
}
