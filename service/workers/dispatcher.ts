import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { JobEvents } from "../jobs/events";
import type { JobDelivery } from "../jobs/job";
import type { JobOutcome, Jobs } from "../jobs/jobs";
import type { WaitingWorker } from "../jobs/ready-queue";
import type { JobTimings } from "../jobs/timings";
import { ShortLivedMap } from "../short-lived-map";
import { aborted, createLongPolls, createStopPolls } from "./long-poll";
import type { WorkerPresence } from "./presence";
import { isBusy, type Worker, type WorkerRegistry } from "./registry";

/** A pipe to a worker. */
export interface WorkerPipe {
  send(delivery: JobDelivery): void;
  stop(jobId: string): void;
}

/** Hold time of a job-take of a dismissed worker, so that it does not poll in a tight loop, ms. */
const dismissedPollTime = 1000;

export type Dispatcher = ReturnType<typeof createDispatcher>;

/**
 * Sends jobs to workers and receives their results, over HTTP (api/worker-channel.ts) or a pipe (workers/pipe.ts). Over HTTP, job-takes
 * and job-stops are long polls.
 */
export function createDispatcher({
  jobs,
  queue,
  events,
  registry,
  presence,
  clock,
  timings,
  log,
  onChange,
}: {
  jobs: Pick<Jobs, "assign" | "assignOrWait" | "finish" | "requeue">;
  /** An endpoint's waiting jobs and workers. */
  queue(endpointId: string): { readonly size: number; removeWaiter(waiter: WaitingWorker): void };
  events: JobEvents;
  registry: WorkerRegistry;
  presence: Pick<WorkerPresence, "recordJobTake">;
  clock: Clock;
  timings: JobTimings;
  log: Pick<Logger, "debug" | "warn">;
  /** Called after a change of the endpoint's workers. */
  onChange(endpointId: string): void;
}) {
  let closed = false;
  const jobPolls = createLongPolls(clock);
  const stopPolls = createStopPolls(clock, timings);
  const pipes = new WeakMap<Worker, WorkerPipe>();
  /** Workers waiting in their endpoint's queue. */
  const waiters = new ShortLivedMap<Worker, WaitingWorker>();
  const updateIdleTime = (worker: Worker): void => {
    if (!isBusy(worker)) worker.idleSince = clock.now();
    onChange(worker.endpointId);
  };

  // Immediately after the commit, because a cancellation in the same commit must find the job's worker.
  events.on("started", ({ id, endpointId, workerId, lowPriority }) => {
    registry.find(endpointId, workerId)?.jobs.set(id, { since: clock.now(), lowPriority, recovered: false });
  });

  function requestStop(worker: Worker, jobId: string): void {
    const pipe = pipes.get(worker);
    worker.stopping.set(jobId, { since: clock.now(), sent: pipe !== undefined });
    pipe?.stop(jobId);
    stopPolls.end(worker);
    onChange(worker.endpointId);
  }
  /** Removes a job from its worker; with `stop`, requests the worker to stop it. */
  function releaseJob(endpointId: string, workerId: string, jobId: string, stop: boolean): void {
    const worker = registry.find(endpointId, workerId);
    if (!worker?.jobs.delete(jobId)) return;
    if (stop) requestStop(worker, jobId);
    else updateIdleTime(worker);
  }
  events.on("ended", (job, before) => {
    if (before.status !== "IN_PROGRESS") return;
    releaseJob(job.endpointId, before.workerId, job.id, job.status === "CANCELLED" || job.status === "TIMED_OUT");
  });
  events.on("removed", (job) => {
    if (job.status === "IN_PROGRESS") releaseJob(job.endpointId, job.workerId, job.id, true);
  });

  /** Applies a worker's report that it runs no jobs: stopped jobs have ended, and assigned jobs are lost. */
  async function reconcile(worker: Worker): Promise<void> {
    if (worker.stopping.size > 0) {
      worker.stopping.clear();
      updateIdleTime(worker);
    }
    for (const [jobId, { since, recovered }] of [...worker.jobs]) {
      if (clock.now() - since < timings.lostJob) continue;
      worker.jobs.delete(jobId);
      await jobs.requeue(
        jobId,
        worker.id,
        // A job that was interrupted by the service's end does not count as a crash.
        recovered ? "interrupted" : "crashed",
        "the worker lost the job: it requested another job without returning a result",
      );
      log.warn({ worker: worker.id, job: jobId }, "worker: lost its job; the job is requeued");
      updateIdleTime(worker);
    }
  }

  async function requeueUndelivered(worker: Worker, deliveries: JobDelivery[]): Promise<void> {
    for (const { job } of deliveries) {
      worker.jobs.delete(job.id);
      await jobs.requeue(job.id, worker.id, "undelivered", "the worker had ended");
    }
    updateIdleTime(worker);
  }

  /** Waits in the queue; `deliver` receives the job, or undefined if the worker has ended. */
  function waitForJob(
    worker: Worker,
    deliver: (delivery: JobDelivery | undefined) => void,
    endsWithService = false,
  ): void {
    const waiter: WaitingWorker = {
      workerId: worker.id,
      isLastResort: worker.stale,
      endsWithService,
      deliver(delivery) {
        if (waiters.get(worker) === waiter) waiters.delete(worker);
        // The worker ended during the transaction that assigned the job, so this job was not requeued with its other jobs.
        if (registry.find(worker.endpointId, worker.id) === worker) return deliver(delivery);
        requeueUndelivered(worker, [delivery])
          .catch(() => undefined)
          .finally(() => deliver(undefined));
      },
    };
    waiters.set(worker, waiter);
    jobs.assignOrWait(worker.endpointId, waiter);
  }
  function leaveQueue(worker: Worker): void {
    const waiter = waiters.get(worker);
    if (!waiter) return;
    waiters.delete(worker);
    if (pipes.has(worker)) worker.openTakes = 0;
    queue(worker.endpointId).removeWaiter(waiter);
  }

  /** Sends the next job to a worker with a pipe. */
  function sendNext(worker: Worker, pipe: WorkerPipe): void {
    if (closed || worker.retiring) return;
    worker.openTakes = 1;
    worker.lastTakeAt = clock.now();
    const deliver = (delivery: JobDelivery | undefined): void => {
      worker.openTakes = 0;
      if (delivery) pipe.send(delivery);
    };
    waitForJob(worker, deliver, true);
  }

  /** Waits for a first job while the poll is open; adds further waiting jobs, up to `max`. */
  function waitForJobs(
    worker: Worker,
    max: number,
    pollEnd: AbortSignal,
    disconnect: AbortSignal,
  ): Promise<JobDelivery[]> {
    return new Promise((resolve, reject) => {
      if (pollEnd.aborted) return resolve([]);
      const stopWaiting = (): void => {
        leaveQueue(worker);
        resolve([]);
      };
      pollEnd.addEventListener("abort", stopWaiting, { once: true });
      waitForJob(worker, (first) => {
        pollEnd.removeEventListener("abort", stopWaiting);
        if (!first) return resolve([]);
        // A closed connection is detected one turn later. Two immediates, because the first may run in the current turn.
        setImmediate(setImmediate, () => {
          const deliveries = disconnect.aborted
            ? requeueUndelivered(worker, [first]).then(() => [])
            : assignMore(worker, first, max);
          deliveries.then(resolve, reject);
        });
      });
    });
  }

  async function assignMore(worker: Worker, first: JobDelivery, max: number): Promise<JobDelivery[]> {
    if (max === 1 || queue(worker.endpointId).size === 0) return [first];
    // If the store fails, the worker still gets the job already assigned to it.
    const more = jobs.assign(worker.endpointId, worker.id, max - 1).catch(() => []);
    return [first, ...(await more)];
  }

  return {
    /**
     * Resolves with up to `max` jobs; waits for the first. Resolves with none after the timeout, if the worker is retiring or the signal
     * aborts. `busy` is the worker's report; false means that it runs no jobs.
     */
    async takeJobs(
      worker: Worker,
      max: number,
      busy: boolean | undefined,
      signal: AbortSignal,
    ): Promise<JobDelivery[]> {
      presence.recordJobTake(worker);
      if (busy === false) await reconcile(worker);
      if (closed || worker.retiring) {
        await jobPolls.run(worker, dismissedPollTime, signal, aborted);
        return [];
      }
      worker.openTakes++;
      try {
        return await jobPolls.run(worker, timings.takeHold, signal, (pollEnd) =>
          waitForJobs(worker, max, pollEnd, signal),
        );
      } finally {
        worker.openTakes--;
        worker.lastTakeAt = clock.now();
        // Starts monitoring the worker's silence.
        onChange(worker.endpointId);
      }
    },

    /** Connects a worker's pipe, which then receives jobs one at a time, and requests to stop jobs. */
    connect(worker: Worker, pipe: WorkerPipe): void {
      pipes.set(worker, pipe);
      presence.recordJobTake(worker);
      sendNext(worker, pipe);
    },

    /** Requeues jobs whose response did not reach the worker. */
    requeueUndelivered,

    /** Ends a job; with `refresh`, the worker is then replaced. A worker with a pipe gets its next job. */
    async finish(worker: Worker, jobId: string, outcome: JobOutcome, refresh: boolean): Promise<void> {
      if (refresh) worker.retiring = true;
      const result = jobs.finish(jobId, worker.id, outcome);
      // The next job does not wait for the commit of the result.
      const pipe = pipes.get(worker);
      if (pipe) sendNext(worker, pipe);
      if (await result) return;
      log.debug({ worker: worker.id, job: jobId }, "worker: result ignored; the job is not assigned to it");
      worker.jobs.delete(jobId);
      worker.stopping.delete(jobId);
      updateIdleTime(worker);
    },

    /** Resolves with the ids of jobs that the worker must stop; waits for the first. */
    pollStops: stopPolls.poll,

    /** Stops assigning jobs to a worker and ends its waits. */
    dismiss(worker: Worker): void {
      worker.retiring = true;
      leaveQueue(worker);
      jobPolls.end(worker);
      stopPolls.end(worker);
    },

    /** Stops assigning jobs. */
    close(): void {
      closed = true;
      for (const worker of [...waiters.keys()]) leaveQueue(worker);
      jobPolls.endAll();
      stopPolls.endAll();
    },
  };
}
