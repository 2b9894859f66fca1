import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { Faults } from "../faults/faults";
import type { JobEvents } from "../jobs/events";
import type { JobDelivery } from "../jobs/job";
import type { JobOutcome, Jobs } from "../jobs/jobs";
import type { WaitingWorker } from "../jobs/ready-queue";
import type { JobTimings } from "../jobs/timings";
import { aborted, createLongPolls, createStopPolls } from "./long-poll";
import type { WorkerRegistry } from "./registry";
import type { WorkerJob } from "./results";
import { createRunningJobs } from "./running-jobs";
import type { Worker } from "./worker";

/** A pipe to a worker. */
export interface WorkerPipe {
  send(delivery: WorkerJob): void;
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
  clock,
  timings,
  log,
  faults,
}: {
  jobs: Pick<Jobs, "assign" | "assignOrWait" | "finish" | "requeue">;
  /** An endpoint's waiting jobs and workers. */
  queue(endpointId: string): { readonly size: number; removeWaiter(waiter: WaitingWorker): void };
  events: JobEvents;
  registry: WorkerRegistry;
  clock: Clock;
  timings: JobTimings;
  log: Pick<Logger, "debug" | "warn" | "error">;
  faults: Pick<Faults, "jobFailure" | "stripsEmptyInput">;
}) {
  let closed = false;
  const jobPolls = createLongPolls(clock);
  const stopPolls = createStopPolls(clock, timings);
  /** The pipes of workers, and their last wait for a job. */
  const pipes = new WeakMap<Worker, { pipe: WorkerPipe; waiter: WaitingWorker | undefined }>();
  const runningJobs = createRunningJobs({ jobs, events, registry, clock, timings, log, requestStop });

  function requestStop(worker: Worker, jobId: string): void {
    const pipe = pipes.get(worker)?.pipe;
    worker.stopRequested(jobId, pipe !== undefined);
    pipe?.stop(jobId);
    stopPolls.end(worker);
  }

  const workerJob = (delivery: JobDelivery): WorkerJob =>
    /^\{\s*\}$/.test(delivery.input) && faults.stripsEmptyInput(delivery.job.endpointId)
      ? { ...delivery, input: undefined }
      : delivery;

  /** Gets the first waiting job, or the next one; `deliver` receives it. */
  function waitForJob(worker: Worker, endsWithService: boolean, deliver: WaitingWorker["deliver"]): WaitingWorker {
    const waiter = { workerId: worker.id, isLastResort: worker.outdated, endsWithService, deliver };
    jobs.assignOrWait(worker.endpointId, waiter);
    return waiter;
  }

  /** Sends the next job to a worker with a pipe. */
  function sendNext(worker: Worker): void {
    const connection = pipes.get(worker);
    if (!connection || closed || worker.draining) return;
    worker.pollOpened();
    connection.waiter = waitForJob(worker, true, (delivery) => {
      worker.pipePollClosed();
      connection.pipe.send(workerJob(delivery));
    });
  }
  /** Ends the wait of a worker with a pipe. */
  function stopSending(worker: Worker): void {
    const { waiter } = pipes.get(worker) ?? {};
    if (!waiter || worker.openPolls === 0) return;
    worker.pipePollClosed();
    queue(worker.endpointId).removeWaiter(waiter);
  }

  /** Waits for a first job while the poll is open; adds further waiting jobs, up to `max`. */
  function waitForJobs(worker: Worker, max: number, pollEnd: AbortSignal): Promise<JobDelivery[]> {
    return new Promise((resolve, reject) => {
      if (pollEnd.aborted) return resolve([]);
      const waiter = waitForJob(worker, false, (first) => {
        pollEnd.removeEventListener("abort", stopWaiting);
        assignMore(worker, first, max).then(resolve, reject);
      });
      function stopWaiting(): void {
        queue(worker.endpointId).removeWaiter(waiter);
        resolve([]);
      }
      pollEnd.addEventListener("abort", stopWaiting, { once: true });
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
     * Resolves with up to `max` jobs; waits for the first. Resolves with none after the timeout, if the worker drains or the signal
     * aborts. `busy` is the worker's report; false means that it runs no jobs.
     */
    async takeJobs(worker: Worker, max: number, busy: boolean | undefined, signal: AbortSignal): Promise<WorkerJob[]> {
      worker.polled();
      if (busy === false) await runningJobs.requeueLost(worker);
      if (closed || worker.draining) {
        await jobPolls.run(worker, dismissedPollTime, signal, aborted);
        return [];
      }
      worker.pollOpened();
      try {
        const wait = (pollEnd: AbortSignal) => waitForJobs(worker, max, pollEnd);
        return (await jobPolls.run(worker, timings.takeHold, signal, wait)).map(workerJob);
      } finally {
        worker.pollClosed();
      }
    },

    /** Connects a worker's pipe, which then receives jobs one at a time, and requests to stop jobs. */
    connect(worker: Worker, pipe: WorkerPipe): void {
      pipes.set(worker, { pipe, waiter: undefined });
      worker.polled();
      sendNext(worker);
    },

    requeueUndelivered: runningJobs.requeueUndelivered,

    requeueAll: runningJobs.requeueAll,

    /** Ends a job; with `refresh`, the worker is then replaced. A worker with a pipe gets its next job. */
    async finish(worker: Worker, jobId: string, outcome: JobOutcome, refresh: boolean): Promise<void> {
      if (refresh) worker.drain();
      const injected = worker.jobs.has(jobId) ? faults.jobFailure(worker.endpointId, jobId) : undefined;
      const redacted = "error" in outcome ? { ...outcome, error: worker.redact(outcome.error) } : outcome;
      const result = jobs.finish(jobId, worker, injected ?? redacted);
      // The next job does not wait for the commit of the result.
      sendNext(worker);
      if (await result) return;
      log.debug({ worker: worker.id, job: jobId }, "worker: result ignored; the job is not assigned to it");
      worker.released(jobId);
    },

    /** Resolves with the ids of jobs that the worker must stop; waits for the first. */
    pollStops: stopPolls.poll,

    /** Stops assigning jobs to a worker, which ends for this reason, and ends its waits. */
    dismiss(worker: Worker, reason?: string): void {
      worker.drain(reason);
      stopSending(worker);
      jobPolls.end(worker);
      stopPolls.end(worker);
    },

    /** Stops assigning jobs; waits up to `deadline` ms for running jobs. */
    async close(deadline: number): Promise<void> {
      closed = true;
      for (const worker of registry.all()) stopSending(worker);
      jobPolls.endAll();
      stopPolls.endAll();
      await runningJobs.waitForEnd(deadline);
    },
  };
}
