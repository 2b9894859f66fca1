import { ShortLivedMap } from "../short-lived-map";
import type { GroupCommit } from "../store/group-commit";
import type { LiveJob, QueuedJob } from "./job";
import { createReadyQueue, type ReadyQueue, type Taker } from "./ready-queue";

export type LiveJobs = ReturnType<typeof createLiveJobs>;

/**
 * The jobs that are not over, in memory: the truth about them, read from the store at start and changed by jobs/jobs.ts within
 * the transactions that make a change durable, or at once when nobody was promised it. A transaction that fails takes its changes
 * here back.
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
  /** The job as it was, when it was there. */
  function leave(id: string): LiveJob | undefined {
    const job = jobs.get(id);
    if (!job) return undefined;
    jobs.delete(id);
    if (job.status === "IN_QUEUE") queue(job.endpointId).remove(job);
    else count(job.endpointId, -1);
    return job;
  }
  /** A queue does not take the same object twice. */
  const enterAgain = (job: LiveJob | undefined): void => void (job && enter({ ...job }));

  return {
    get: (id: string): LiveJob | undefined => jobs.get(id),
    get size(): number {
      return jobs.size;
    },
    all: (): Iterable<LiveJob> => jobs.values(),
    queue,
    /** How many of an endpoint's jobs run. */
    running: (endpointId: string): number => running.get(endpointId) ?? 0,
    /** Adds what the store had at start. */
    load(found: LiveJob[]): void {
      for (const job of found.sort((one, other) => one.place - other.place)) enter(job);
    },
    /** Adds a job, or puts it in the place of what it was before. */
    put(job: LiveJob): void {
      const before = leave(job.id);
      enter(job);
      onRollback(() => {
        leave(job.id);
        enterAgain(before);
      });
    },
    /** The job is over, or removed. */
    drop(id: string): void {
      const before = leave(id);
      onRollback(() => enterAgain(before));
    },
    /** Takes the first waiting job out of the queue, for a worker or because its time is over. */
    shift(endpointId: string): QueuedJob | undefined {
      const job = queue(endpointId).shift();
      if (job)
        onRollback(() => {
          leave(job.id);
          enterAgain(job);
        });
      return job;
    },
    /** How many of an endpoint's jobs wait. */
    waiting: (endpointId: string): number => queue(endpointId).size,
    /** Takes out a waiting worker. */
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
