import type { Clock } from "serverless-compute-api/clock";
import type { GroupCommit } from "../store/group-commit";
import type { JobEvents } from "./events";
import { type JobDelivery, toRunning } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { WaitingWorker } from "./ready-queue";
import type { JobRecords } from "./records";
import type { JobStore } from "./store";
import { storePause } from "./timings";
import type { Transitions } from "./transitions";

/** A job and its assigned worker. */
interface Assignment {
  waiter: WaitingWorker;
  delivery: JobDelivery;
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
  function claimNext(endpointId: string, workerId: string): JobDelivery | undefined {
    for (let next = live.shift(endpointId); next; next = live.shift(endpointId)) {
      const payload = records.isVisible(next) ? store.payload(next.seq) : undefined;
      if (!payload) continue;
      const job = toRunning(next, workerId, clock);
      put(job);
      return { ...payload, job };
    }
    return undefined;
  }

  function assignNext(endpointId: string): Assignment | undefined {
    const queue = live.queue(endpointId);
    if (queue.size === 0) return undefined;
    const waiter = live.nextWaiter(endpointId);
    const delivery = waiter && claimNext(endpointId, waiter.workerId);
    if (waiter && !delivery) queue.addWaiter(waiter);
    return waiter && delivery && { waiter, delivery };
  }

  function deliver(assignment: Assignment | undefined): void {
    if (!assignment) return;
    events.emit("started", assignment.delivery.job);
    assignment.waiter.deliver(assignment.delivery);
  }

  /** Assigns the first waiting job to a waiting worker, if both exist. */
  function scheduleAssignment(endpointId: string): void {
    const { size, hasWaiter } = live.queue(endpointId);
    if (size === 0 || !hasWaiter) return;
    commit(() => assignNext(endpointId), deliver).catch(() =>
      clock.sleep(storePause).then(() => scheduleAssignment(endpointId)),
    );
  }

  /** Assigns the first waiting job to a worker that ends with the service and commits the start later; returns false if no job waits. */
  function startNext(endpointId: string, waiter: WaitingWorker): boolean {
    const { first } = live.queue(endpointId);
    const payload = first && records.isVisible(first) ? store.payload(first.seq) : undefined;
    if (!first || !payload) return false;
    const job = toRunning(first, waiter.workerId, clock);
    live.put(job);
    // If this fails, the row keeps its old state until the job's next change; no client depends on the row.
    commit(() =>
      beforeCommit(() => {
        if (live.get(job.id) === job) store.save(job);
      }),
    ).catch(() => undefined);
    deliver({ waiter, delivery: { job, ...payload } });
    return true;
  }

  return {
    deliver,
    scheduleAssignment,

    /** Assigns up to `max` waiting jobs to a worker. */
    assign: (endpointId: string, workerId: string, max: number): Promise<JobDelivery[]> =>
      commit(
        () => {
          const jobs: JobDelivery[] = [];
          for (let next = claimNext(endpointId, workerId); next; next = claimNext(endpointId, workerId)) {
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
    assignOrWait(endpointId: string, waiter: WaitingWorker): void {
      if (waiter.endsWithService && startNext(endpointId, waiter)) return;
      live.queue(endpointId).addWaiter(waiter);
      scheduleAssignment(endpointId);
    },
  };
}
