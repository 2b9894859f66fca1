import type { JobStore } from "../store/jobs";
import type { JobEvents } from "./events";
import type { Job, RunningJob } from "./job";
import { createJobQueue, type JobQueue } from "./queue";

/** The queues of all endpoints, kept true by the ledger's events. */
export interface JobQueues {
  of(endpointId: string): JobQueue;
  /** How many jobs of an endpoint run now. */
  running(endpointId: string): number;
  /** Reads the waiting jobs from the store, and takes over those that still run. Once, before the first event. */
  rebuild(running: readonly RunningJob[]): void;
  forget(endpointId: string): void;
}

export function createJobQueues(jobs: Pick<JobStore, "waiting">, events: JobEvents): JobQueues {
  const queues = new Map<string, JobQueue>();
  const running = new Map<string, Set<string>>();

  function of(endpointId: string): JobQueue {
    const queue = queues.get(endpointId) ?? createJobQueue();
    queues.set(endpointId, queue);
    return queue;
  }
  function stopped({ id, endpointId }: Pick<Job, "id" | "endpointId">): void {
    const jobs = running.get(endpointId);
    jobs?.delete(id);
    if (jobs?.size === 0) running.delete(endpointId);
  }

  function runs({ id, endpointId }: RunningJob): void {
    running.set(endpointId, (running.get(endpointId) ?? new Set()).add(id));
  }

  events.on("started", (job) => {
    // It may have been queued anew while the worker that has it was on its way to the store.
    of(job.endpointId).remove(job.id);
    runs(job);
  });
  events.on("queued", (job) => {
    stopped(job);
    of(job.endpointId).add(job);
  });
  events.on("ended", (job, before) => {
    if (before.status === "IN_QUEUE") of(job.endpointId).remove(job.id);
    stopped(job);
  });
  events.on("removed", (job) => {
    if (job.status === "IN_QUEUE") of(job.endpointId).remove(job.id);
    stopped(job);
  });

  return {
    of,
    running: (endpointId) => running.get(endpointId)?.size ?? 0,
    rebuild(kept) {
      for (const job of jobs.waiting()) of(job.endpointId).add(job);
      for (const job of kept) runs(job);
    },
    forget(endpointId) {
      queues.delete(endpointId);
      running.delete(endpointId);
    },
  };
}
