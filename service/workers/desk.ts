import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { ServiceError } from "../errors";
import type { JobEvents } from "../jobs/events";
import type { RunningJob, TakenJob } from "../jobs/job";
import type { JobOutcome, Ledger } from "../jobs/ledger";
import type { JobQueue, QueueEntry } from "../jobs/queue";
import type { JobTimings } from "../jobs/timings";
import { aborted, createHolds } from "./holds";
import { isBusy, isLocalId, type Roster, type Worker } from "./roster";

/** Where workers ask for jobs and hand in what they made of them; the wire is workers/channel.ts. */
export interface WorkerDesk {
  /** The worker behind a call, noted as heard of; one elsewhere joins with its first call. */
  greet(endpointId: string, workerId: string): Worker;
  /** Keeps a job that a worker elsewhere had when the service started, until the worker comes back or its time is over. */
  awaitReturn(job: RunningJob): void;
  /**
   * Up to `max` jobs; waits for the first one. None when the time is over, the worker is retiring or the signal aborts.
   * `busy` is what the worker says of itself: false means that it has no job.
   */
  take(worker: Worker, max: number, busy: boolean | undefined, signal: AbortSignal): Promise<TakenJob[]>;
  /** Takes back jobs whose answer never reached the worker. */
  undelivered(worker: Worker, jobs: TakenJob[]): Promise<void>;
  /** The end of a job. `refresh`: the worker wants to be replaced after it. */
  finish(worker: Worker, jobId: string, outcome: JobOutcome, refresh: boolean): Promise<void>;
  /** Jobs that the worker has to stop; waits for the first one. */
  stops(worker: Worker, signal: AbortSignal): Promise<string[]>;
  ping(worker: Worker, jobIds: string[], unwell: string | undefined): void;
  /** Gives a worker no more jobs and ends its waits. */
  dismiss(worker: Worker): void;
  /** Gives nobody any more jobs. */
  close(): void;
}

export interface DeskDeps {
  ledger: Ledger;
  events: JobEvents;
  roster: Roster;
  queue(endpointId: string): JobQueue;
  clock: Clock;
  timings: JobTimings;
  log: Pick<Logger, "debug" | "info" | "warn">;
  /** A worker elsewhere joined the endpoint. */
  joined(endpointId: string): void;
  /** Something about the endpoint's workers changed. */
  changed(endpointId: string): void;
}

/** How long a worker that gets no more jobs is held, so that it does not ask in a loop, ms. */
const dismissedHold = 1000;

/** How long after the first word a worker is told again to stop a job, ms. */
const retellHold = 1000;

export function createWorkerDesk({
  ledger,
  events,
  roster,
  queue,
  clock,
  timings,
  log,
  joined,
  changed,
}: DeskDeps): WorkerDesk {
  let closed = false;
  const { held, wake, wakeAll } = createHolds(clock);
  const freed = (worker: Worker): void => {
    if (!isBusy(worker)) worker.idleSince = clock.now();
    changed(worker.endpointId);
  };

  // Right after the commit: a cancellation in the same commit has to find the worker that runs the job.
  events.on("started", ({ id, endpointId, workerId, startedAt, lowPriority }) => {
    roster.find(endpointId, workerId)?.jobs.set(id, { since: startedAt, lowPriority, recovered: false });
  });

  const stopWaits = new Map<Worker, Set<() => void>>();
  function tellToStop(endpointId: string, workerId: string | undefined, jobId: string): void {
    const worker = workerId === undefined ? undefined : roster.find(endpointId, workerId);
    if (!worker?.jobs.delete(jobId)) return;
    worker.stopping.set(jobId, { since: clock.now(), told: false });
    for (const tell of stopWaits.get(worker) ?? []) tell();
    changed(endpointId);
  }
  events.on("ended", (job, before) => {
    if (before.status !== "IN_PROGRESS") return;
    if (job.status === "CANCELLED" || job.status === "TIMED_OUT") tellToStop(job.endpointId, before.workerId, job.id);
  });
  events.on("removed", ({ id, endpointId, workerId }) => tellToStop(endpointId, workerId, id));

  /** A worker without jobs has stopped those it had to stop, and has lost those it should have. */
  async function reconcile(worker: Worker): Promise<void> {
    if (worker.stopping.size > 0) {
      worker.stopping.clear();
      freed(worker);
    }
    for (const [jobId, { since, recovered }] of [...worker.jobs]) {
      if (clock.now() - since < timings.lostJob) continue;
      worker.jobs.delete(jobId);
      await ledger.giveBack(
        jobId,
        worker.id,
        // What the end of the service took from it is not its fault.
        recovered ? "interrupted" : "crashed",
        "the worker lost the job: it asked for another one without an answer",
      );
      log.warn({ worker: worker.id, job: jobId }, "a worker lost its job, which is queued again");
      freed(worker);
    }
  }

  async function takeNow(worker: Worker, first: QueueEntry | undefined, max: number): Promise<TakenJob[]> {
    const waiting = queue(worker.endpointId);
    const jobs: TakenJob[] = [];
    for (let entry = first; entry; entry = jobs.length < max ? waiting.take() : undefined) {
      const { id } = entry;
      const taken = await ledger.take(id, worker.id).catch((error: unknown) => {
        // The store could not say so, hence the job still waits.
        if (entry) waiting.add(entry);
        throw error;
      });
      if (taken) jobs.push(taken);
    }
    return jobs;
  }

  async function undelivered(worker: Worker, jobs: TakenJob[]): Promise<void> {
    for (const { job } of jobs) {
      worker.jobs.delete(job.id);
      await ledger.giveBack(job.id, worker.id, "undelivered", "the worker was gone");
    }
    freed(worker);
  }

  return {
    greet(endpointId, workerId) {
      const known = roster.find(endpointId, workerId);
      if (!known && isLocalId(workerId)) throw new ServiceError("invalid", `worker "${workerId}" was ended`);
      const worker = known ?? roster.add({ id: workerId, endpointId, local: false, now: clock.now() });
      if (!known) {
        log.info({ endpoint: endpointId, worker: workerId }, "a worker joined");
        joined(endpointId);
      }
      worker.lastSeenAt = clock.now();
      if (worker.awaitedUntil !== undefined) {
        worker.awaitedUntil = undefined;
        worker.suspectSince = undefined;
        worker.lastAskAt = clock.now();
        log.info({ endpoint: endpointId, worker: workerId }, "a worker came back to its jobs");
        changed(endpointId);
      }
      return worker;
    },

    awaitReturn({ id, endpointId, workerId, lowPriority }) {
      const now = clock.now();
      let worker = roster.find(endpointId, workerId);
      if (!worker) {
        worker = roster.add({ id: workerId, endpointId, local: false, now });
        worker.firstAskAt = now;
        worker.awaitedUntil = now + timings.returnGrace;
      }
      worker.jobs.set(id, { since: now, lowPriority, recovered: true });
    },

    async take(worker, max, busy, signal) {
      worker.lastAskAt = clock.now();
      if (worker.firstAskAt === undefined) {
        worker.firstAskAt = clock.now();
        worker.idleSince = clock.now();
        changed(worker.endpointId);
      }
      worker.unwell = undefined;
      if (busy === false) await reconcile(worker);
      if (closed || worker.retiring) {
        await held(worker, dismissedHold, signal, aborted);
        return [];
      }
      worker.asking++;
      try {
        return await held(worker, timings.takeHold, signal, async (until) => {
          for (;;) {
            const entry = await queue(worker.endpointId).wait(until);
            const jobs = await takeNow(worker, entry, max);
            if (jobs.length > 0 && roster.find(worker.endpointId, worker.id) !== worker) {
              // It ended while the store wrote this down, and whoever took its jobs back did not see these.
              await undelivered(worker, jobs);
              return [];
            }
            if (jobs.length > 0 || !entry) return jobs;
          }
        });
      } finally {
        worker.asking--;
        worker.lastAskAt = clock.now();
        // From now on its silence is watched.
        changed(worker.endpointId);
      }
    },

    undelivered,

    async finish(worker, jobId, outcome, refresh) {
      if (refresh) worker.retiring = true;
      const finished = await ledger.finish(jobId, worker.id, outcome);
      if (!finished)
        log.debug({ worker: worker.id, job: jobId }, "a result came for a job that is not the worker's any more");
      worker.jobs.delete(jobId);
      worker.stopping.delete(jobId);
      freed(worker);
    },

    async stops(worker, signal) {
      const news = (): string[] => {
        const untold = [...worker.stopping].filter(([, stop]) => !stop.told);
        for (const [, stop] of untold) stop.told = true;
        return untold.map(([jobId]) => jobId);
      };
      const now = news();
      if (now.length > 0) return now;
      const all = stopWaits.get(worker) ?? new Set();
      stopWaits.set(worker, all);
      // A job may reach the worker later than the word to stop it, so that is said again.
      const hold = worker.stopping.size > 0 ? retellHold : timings.stopHold;
      await held(worker, hold, signal, async (until) => {
        await new Promise<void>((resolve) => {
          all.add(resolve);
          void aborted(until)
            .then(() => all.delete(resolve))
            .then(() => resolve());
        });
      });
      if (all.size === 0) stopWaits.delete(worker);
      return [...worker.stopping.keys()];
    },

    ping(worker, jobIds, unwell) {
      // From the first ping on its silence is watched.
      if (!worker.pinged || worker.unwell !== unwell) changed(worker.endpointId);
      worker.pinged = true;
      worker.unwell = unwell;
      // Only a worker that names its jobs tells that another one is over.
      if (jobIds.length === 0) return;
      for (const jobId of [...worker.stopping.keys()]) if (!jobIds.includes(jobId)) worker.stopping.delete(jobId);
    },

    dismiss(worker) {
      worker.retiring = true;
      wake(worker);
    },

    close() {
      closed = true;
      wakeAll();
    },
  };
}
