import type { Clock } from "serverless-compute-api/clock";
import type { GroupCommit } from "../store/group-commit";
import type { JobEvents } from "./events";
import { type TakenJob, taken as takenBy } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { WaitingWorker } from "./ready-queue";
import type { JobRecords } from "./records";
import type { JobStore } from "./store";
import { storePause } from "./timings";
import type { Transitions } from "./transitions";

/** A job and its assigned worker. */
interface Served {
  waiter: WaitingWorker;
  taken: TakenJob;
}

/** Assigns waiting jobs to workers, in the order of the queue. */
export function createAssignment({
  live,
  store,
  records,
  groupCommit: { commit, beforeCommit },
  events,
  clock,
  transitions: { put },
}: {
  live: LiveJobs;
  store: Pick<JobStore, "payload" | "save">;
  records: Pick<JobRecords, "isVisible">;
  groupCommit: Pick<GroupCommit, "commit" | "beforeCommit">;
  events: JobEvents;
  clock: Clock;
  transitions: Pick<Transitions, "put">;
}) {
  /** Assigns the first waiting job within a transaction; skips expired jobs, which the supervisor removes. */
  function takeNext(endpointId: string, workerId: string): TakenJob | undefined {
    for (let next = live.shift(endpointId); next; next = live.shift(endpointId)) {
      const payload = records.isVisible(next) ? store.payload(next.seq) : undefined;
      if (!payload) continue;
      const job = takenBy(next, workerId, clock.now());
      put(job);
      return { ...payload, job };
    }
    return undefined;
  }

  function serve(endpointId: string): Served | undefined {
    const queue = live.queue(endpointId);
    if (queue.size === 0) return undefined;
    const waiter = live.nextWorker(endpointId);
    const taken = waiter && takeNext(endpointId, waiter.workerId);
    if (waiter && !taken) queue.wait(waiter);
    return waiter && taken && { waiter, taken };
  }

  function deliver(served: Served | undefined): void {
    if (!served) return;
    events.emit("started", served.taken.job);
    served.waiter.deliver(served.taken);
  }

  /** Assigns the first waiting job to a waiting worker, if both exist. */
  function serveSoon(endpointId: string): void {
    const { size, hasWorker } = live.queue(endpointId);
    if (size === 0 || !hasWorker) return;
    commit(() => serve(endpointId), deliver).catch(() => clock.sleep(storePause).then(() => serveSoon(endpointId)));
  }

  /** Assigns the first waiting job to a worker that ends with the service and commits the start later; returns false if no job waits. */
  function beginNext(endpointId: string, waiter: WaitingWorker): boolean {
    const { first } = live.queue(endpointId);
    const payload = first && records.isVisible(first) ? store.payload(first.seq) : undefined;
    if (!first || !payload) return false;
    const job = takenBy(first, waiter.workerId, clock.now());
    live.put(job);
    // If this fails, the row keeps its old state until the job's next change; no client depends on the row.
    commit(() =>
      beforeCommit(() => {
        if (live.get(job.id) === job) store.save(job);
      }),
    ).catch(() => undefined);
    deliver({ waiter, taken: { job, ...payload } });
    return true;
  }

  return {
    deliver,
    serveSoon,

    /** Assigns up to `max` waiting jobs to a worker. */
    take: (endpointId: string, workerId: string, max: number): Promise<TakenJob[]> =>
      commit(
        () => {
          const jobs: TakenJob[] = [];
          for (let next = takeNext(endpointId, workerId); next; next = takeNext(endpointId, workerId)) {
            jobs.push(next);
            if (jobs.length >= max) break;
          }
          return jobs;
        },
        (jobs) => {
          for (const { job } of jobs) events.emit("started", job);
        },
      ),

    /** Assigns the first waiting job to a worker, or the next submission. */
    await(endpointId: string, waiter: WaitingWorker): void {
      if (waiter.endsWithService && beginNext(endpointId, waiter)) return;
      live.queue(endpointId).wait(waiter);
      serveSoon(endpointId);
    },
  };
}
