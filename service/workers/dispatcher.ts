import type { Logger } from "pino";
import type { Faults } from "../faults/faults";
import type { JobEvents } from "../queue/events";
import type { JobDelivery, JobOutcome, RequeueReason, RunningJob } from "../queue/job";
import type { WaitingWorker } from "../queue/memory";
import type { Jobs } from "../queue/queue";
import type { SteadyClock } from "../steady-clock";
import type { ServiceTimings } from "../timings";
import { aborted, createLongPolls } from "./long-poll";
import type { WorkerRegistry } from "./registry";
import type { Worker } from "./worker";

/** A pipe to a worker. */
export interface WorkerPipe {
  send(delivery: JobDelivery): void;
  stop(jobId: string): void;
}

/** Hold time of a job-take of a dismissed worker, so that it does not poll in a tight loop, ms. */
const dismissedPollTime = 1000;

/** Interval at which the request to stop a job is repeated, ms: the job may reach the worker after the first request. */
const stopRepeatInterval = 1000;

export type Dispatcher = ReturnType<typeof createDispatcher>;

/**
 * Sends jobs to workers and receives their results, over HTTP (api/worker-channel.ts) or a pipe (workers/pipe.ts). Over HTTP, job-takes
 * and job-stops are long polls.
 */
export function createDispatcher({
  jobs,
  events,
  registry,
  clock,
  timings,
  log,
  faults,
}: {
  jobs: Pick<Jobs, "wait" | "stopWaiting" | "finish" | "requeue">;
  events: JobEvents;
  registry: WorkerRegistry;
  clock: SteadyClock;
  timings: ServiceTimings;
  log: Pick<Logger, "debug" | "warn" | "error">;
  faults: Pick<Faults, "jobFailure" | "stripsEmptyInput" | "crashesWorker">;
}) {
  let closed = false;
  const jobPolls = createLongPolls(clock);
  const stopPolls = createLongPolls(clock);
  /** The pipes of workers, and their last wait for a job. */
  const pipes = new WeakMap<Worker, { pipe: WorkerPipe; waiter: WaitingWorker | undefined }>();

  events.on("ended", ({ status }, before) => {
    if (before.status === "IN_PROGRESS") recordEnd(before, status === "CANCELLED" || status === "TIMED_OUT");
  });
  events.on("removed", (job) => {
    if (job.status === "IN_PROGRESS") recordEnd(job, true);
  });

  /** Records the end of a job at its worker; with `stop`, the worker still runs the job and must stop it. */
  function recordEnd({ id, endpointId, workerId }: RunningJob, stop: boolean): void {
    const worker = registry.find(endpointId, workerId);
    if (!worker?.jobs.has(id)) return;
    if (stop) requestStop(worker, id);
    else worker.released(id);
  }

  function requestStop(worker: Worker, jobId: string): void {
    const pipe = pipes.get(worker)?.pipe;
    worker.stopRequested(jobId, pipe !== undefined);
    pipe?.stop(jobId);
    stopPolls.end(worker);
  }

  /** Records that a worker runs a job; returns the delivery for the worker. */
  function assigned(worker: Worker, { job, input, s3Config }: JobDelivery): JobDelivery {
    const { endpointId } = worker;
    worker.assigned(job.id, job.lowPriority);
    if (worker.process && faults.crashesWorker(endpointId, job.id)) worker.process.kill();
    const isStripped = input !== undefined && /^\{\s*\}$/.test(input) && faults.stripsEmptyInput(endpointId);
    return { job, input: isStripped ? undefined : input, s3Config };
  }

  /** Waits for the first queued jobs, up to `max`, or for the next job; `onJobs` receives them. */
  function waitForJobs(
    worker: Worker,
    { max, endsWithService }: Required<Pick<WaitingWorker, "max" | "endsWithService">>,
    onJobs: (deliveries: JobDelivery[]) => void,
  ): WaitingWorker {
    const deliver: WaitingWorker["deliver"] = (deliveries) =>
      onJobs(deliveries.map((delivery) => assigned(worker, delivery)));
    const waiter = { workerId: worker.id, isLastResort: worker.outdated, max, endsWithService, deliver };
    jobs.wait(worker.endpointId, waiter);
    return waiter;
  }

  /** Sends the next job to a worker with a pipe. */
  function sendNext(worker: Worker): void {
    const connection = pipes.get(worker);
    if (!connection || closed || worker.draining) return;
    worker.pollOpened();
    connection.waiter = waitForJobs(worker, { max: 1, endsWithService: true }, ([delivery]) => {
      worker.pipePollClosed();
      if (delivery) connection.pipe.send(delivery);
    });
  }
  /** Ends the wait of a worker with a pipe. */
  function stopSending(worker: Worker): void {
    const { waiter } = pipes.get(worker) ?? {};
    if (!waiter || worker.openPolls === 0) return;
    worker.pipePollClosed();
    jobs.stopWaiting(worker.endpointId, waiter);
  }

  /** Resolves with the first jobs while the poll is open, and with none at its end. */
  function pollJobs(worker: Worker, max: number, pollEnd: AbortSignal): Promise<JobDelivery[]> {
    return new Promise((resolve) => {
      if (pollEnd.aborted) return resolve([]);
      const waiter = waitForJobs(worker, { max, endsWithService: false }, (deliveries) => {
        pollEnd.removeEventListener("abort", stopWaiting);
        resolve(deliveries);
      });
      function stopWaiting(): void {
        jobs.stopWaiting(worker.endpointId, waiter);
        resolve([]);
      }
      pollEnd.addEventListener("abort", stopWaiting);
    });
  }

  /** Applies a worker's report that it runs no jobs: stopped jobs have ended, and assigned jobs are lost. */
  async function requeueLost(worker: Worker): Promise<void> {
    for (const jobId of [...worker.stopping.keys()]) worker.released(jobId);
    for (const [jobId, { since, recovered }] of [...worker.jobs]) {
      if (clock.now() - since < timings.lostJob) continue;
      worker.released(jobId);
      await jobs.requeue(
        jobId,
        worker,
        // A job that was interrupted by the service's end does not count as a crash.
        recovered ? "interrupted" : "crashed",
        "the worker lost the job: it requested another job without returning a result; check that the handler's output is a JSON value",
      );
      log.warn({ worker: worker.id, job: jobId }, "worker: lost its job; the job is requeued");
    }
  }

  /** Waits up to `deadline` ms until no worker runs a job; ignores workers that have not called since the service's start. */
  async function waitForEnd(deadline: number): Promise<void> {
    const isRunning = (): boolean =>
      registry.all().some((worker) => worker.returnDeadline === undefined && worker.jobs.size > 0);
    const done = new AbortController();
    const check = (): void => {
      if (!isRunning()) done.abort();
    };
    // The worker's jobs are updated after the event.
    events.on("ended", () => setImmediate(check));
    events.on("queued", () => setImmediate(check));
    if (isRunning()) await clock.sleep(deadline, done.signal).catch(() => undefined);
  }

  return {
    /**
     * Resolves with up to `max` jobs; waits for the first. Resolves with none after the timeout, if the worker drains or the signal
     * aborts. `busy` is the worker's report; false means that it runs no jobs.
     */
    async takeJobs(
      worker: Worker,
      max: number,
      busy: boolean | undefined,
      signal: AbortSignal,
    ): Promise<JobDelivery[]> {
      worker.polled();
      if (busy === false) await requeueLost(worker);
      if (closed || worker.draining) {
        await jobPolls.run(worker, dismissedPollTime, signal, aborted);
        return [];
      }
      worker.pollOpened();
      try {
        return await jobPolls.run(worker, timings.pollHold, signal, (pollEnd) => pollJobs(worker, max, pollEnd));
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

    /** Requeues jobs that the worker has not run: they did not reach it, or it ends before its start is complete. */
    async requeueUndelivered(worker: Worker, jobIds: string[]): Promise<void> {
      for (const jobId of jobIds) {
        worker.released(jobId);
        await jobs.requeue(jobId, worker, "undelivered", "the worker had ended");
      }
    },

    /** Requeues all jobs of a worker that has ended; `error` is the error of a job that has crashed too many workers. */
    async requeueAll(worker: Worker, reason: RequeueReason, error: string): Promise<void> {
      for (const jobId of [...worker.jobs.keys()])
        await jobs
          .requeue(jobId, worker, reason, error)
          .catch((fault) =>
            log.error({ err: fault, job: jobId }, "job: cannot be requeued from a lost worker; retrying"),
          );
    },

    /** Ends a job; with `refresh`, the worker is then replaced. A worker with a pipe gets its next job. */
    async finish(worker: Worker, jobId: string, outcome: JobOutcome, refresh: boolean): Promise<void> {
      if (refresh) worker.drain();
      const { output, error } = (worker.jobs.has(jobId) && faults.jobFailure(worker.endpointId, jobId)) || outcome;
      const result = jobs.finish(jobId, worker, { output, error: error === undefined ? error : worker.redact(error) });
      // The next job does not wait for the commit of the result.
      sendNext(worker);
      if (await result) return;
      log.debug({ worker: worker.id, job: jobId }, "worker: result ignored; the job is not assigned to it");
      worker.released(jobId);
    },

    /** Resolves with the ids of jobs that the worker must stop; waits for the first. */
    async pollStops(worker: Worker, signal: AbortSignal): Promise<string[]> {
      const unsent = worker.sendStops();
      if (unsent.length > 0) return unsent;
      await stopPolls.run(worker, worker.stopping.size > 0 ? stopRepeatInterval : timings.pollHold, signal, aborted);
      return [...worker.stopping.keys()];
    },

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
      await waitForEnd(deadline);
    },
  };
}
