import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { JobEvents } from "../jobs/events";
import type { TakenJob } from "../jobs/job";
import type { JobOutcome, Jobs } from "../jobs/jobs";
import type { Taker } from "../jobs/ready-queue";
import type { JobTimings } from "../jobs/timings";
import { ShortLivedMap } from "../short-lived-map";
import { aborted, createLongPolls, createStopPolls } from "./long-poll";
import type { WorkerPresence } from "./presence";
import { isBusy, type Worker, type WorkerRegistry } from "./registry";

/** A worker's end of a pipe. */
export interface WorkerPipe {
  send(taken: TakenJob): void;
  stop(jobId: string): void;
}

/** How long a worker that gets no more jobs is held, so that it does not ask in a loop, ms. */
const dismissedHold = 1000;

export type Dispatcher = ReturnType<typeof createDispatcher>;

/**
 * Gives jobs to workers and takes their results. Workers reach it over HTTP (api/worker-channel.ts), where each call for a job
 * and each call for jobs to stop is a long poll, or over a pipe (workers/pipe.ts).
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
  changed,
}: {
  jobs: Pick<Jobs, "take" | "await" | "finish" | "giveBack">;
  /** An endpoint's waiting jobs and workers. */
  queue(endpointId: string): { readonly size: number; leave(taker: Taker): boolean };
  events: JobEvents;
  registry: WorkerRegistry;
  presence: Pick<WorkerPresence, "asked">;
  clock: Clock;
  timings: JobTimings;
  log: Pick<Logger, "debug" | "warn">;
  /** Called after a change of the endpoint's workers. */
  changed(endpointId: string): void;
}) {
  let closed = false;
  const longPolls = createLongPolls(clock);
  const { held, wake, wakeAll } = longPolls;
  const stops = createStopPolls(longPolls, timings);
  const pipes = new WeakMap<Worker, WorkerPipe>();
  /** Workers that wait for a job at their queue. */
  const takers = new ShortLivedMap<Worker, Taker>();
  const freed = (worker: Worker): void => {
    if (!isBusy(worker)) worker.idleSince = clock.now();
    changed(worker.endpointId);
  };
  const isGone = (worker: Worker): boolean => registry.find(worker.endpointId, worker.id) !== worker;

  // Right after the commit: a cancellation in the same commit has to find the worker that runs the job.
  events.on("started", ({ id, endpointId, workerId, lowPriority }) => {
    registry.find(endpointId, workerId)?.jobs.set(id, { since: clock.now(), lowPriority, recovered: false });
  });

  function askToStop(worker: Worker, jobId: string): void {
    const pipe = pipes.get(worker);
    worker.stopping.set(jobId, { since: clock.now(), told: pipe !== undefined });
    pipe?.stop(jobId);
    stops.wake(worker);
    changed(worker.endpointId);
  }
  /** The job is no longer that worker's; `stop` when the worker goes on with it. */
  function release(endpointId: string, workerId: string, jobId: string, stop: boolean): void {
    const worker = registry.find(endpointId, workerId);
    if (!worker?.jobs.delete(jobId)) return;
    if (stop) askToStop(worker, jobId);
    else freed(worker);
  }
  events.on("ended", (job, before) => {
    if (before.status !== "IN_PROGRESS") return;
    release(job.endpointId, before.workerId, job.id, job.status === "CANCELLED" || job.status === "TIMED_OUT");
  });
  events.on("removed", (job) => {
    if (job.status === "IN_PROGRESS") release(job.endpointId, job.workerId, job.id, true);
  });

  /** A worker without jobs has stopped those it had to stop, and has lost those it should have. */
  async function reconcile(worker: Worker): Promise<void> {
    if (worker.stopping.size > 0) {
      worker.stopping.clear();
      freed(worker);
    }
    for (const [jobId, { since, recovered }] of [...worker.jobs]) {
      if (clock.now() - since < timings.lostJob) continue;
      worker.jobs.delete(jobId);
      await jobs.giveBack(
        jobId,
        worker.id,
        // A job that the service's end interrupted does not count as a crash.
        recovered ? "interrupted" : "crashed",
        "the worker lost the job: it asked for another one without an answer",
      );
      log.warn({ worker: worker.id, job: jobId }, "worker: lost its job; the job is requeued");
      freed(worker);
    }
  }

  async function undelivered(worker: Worker, taken: TakenJob[]): Promise<void> {
    for (const { job } of taken) {
      worker.jobs.delete(job.id);
      await jobs.giveBack(job.id, worker.id, "undelivered", "the worker was gone");
    }
    freed(worker);
  }

  /** Waits at the queue; `give` receives the job, or undefined if the worker has ended. */
  function wait(worker: Worker, give: (taken: TakenJob | undefined) => void, endsWithService = false): void {
    const taker: Taker = {
      workerId: worker.id,
      last: worker.stale,
      endsWithService,
      give(taken) {
        if (takers.get(worker) === taker) takers.delete(worker);
        // The worker ended in the transaction that assigned the job, so the requeue of its jobs missed this one.
        if (!isGone(worker)) return give(taken);
        undelivered(worker, [taken])
          .catch(() => undefined)
          .finally(() => give(undefined));
      },
    };
    takers.set(worker, taker);
    jobs.await(worker.endpointId, taker);
  }
  function leaveQueue(worker: Worker): void {
    const taker = takers.get(worker);
    if (!taker) return;
    takers.delete(worker);
    if (pipes.has(worker)) worker.asking = 0;
    queue(worker.endpointId).leave(taker);
  }

  /** Sends the next job to a worker with a pipe. */
  function sendNext(worker: Worker, pipe: WorkerPipe): void {
    if (closed || worker.retiring) return;
    worker.asking = 1;
    worker.lastAskAt = clock.now();
    const give = (taken: TakenJob | undefined): void => {
      worker.asking = 0;
      if (taken) pipe.send(taken);
    };
    wait(worker, give, true);
  }

  /** The first job that comes while the poll is open, and others that wait then. */
  function takeFirst(worker: Worker, max: number, until: AbortSignal, gone: AbortSignal): Promise<TakenJob[]> {
    return new Promise((resolve, reject) => {
      if (until.aborted) return resolve([]);
      const leave = (): void => {
        leaveQueue(worker);
        resolve([]);
      };
      until.addEventListener("abort", leave, { once: true });
      wait(worker, (first) => {
        until.removeEventListener("abort", leave);
        if (!first) return resolve([]);
        // A turn later it is known whether the worker had closed the connection before; the first immediate may be of this turn.
        setImmediate(setImmediate, () => {
          const taken = gone.aborted ? undelivered(worker, [first]).then(() => []) : withMore(worker, first, max);
          taken.then(resolve, reject);
        });
      });
    });
  }

  async function withMore(worker: Worker, first: TakenJob, max: number): Promise<TakenJob[]> {
    if (max === 1 || queue(worker.endpointId).size === 0) return [first];
    // If the store fails, the worker still gets the job that is its own already.
    const more = jobs.take(worker.endpointId, worker.id, max - 1).catch(() => []);
    return [first, ...(await more)];
  }

  return {
    /**
     * Returns up to `max` jobs; waits for the first one. Returns none after the timeout, if the worker is retiring or the signal
     * aborts. `busy` is the worker's own report: false means that it has no job.
     */
    async take(worker: Worker, max: number, busy: boolean | undefined, signal: AbortSignal): Promise<TakenJob[]> {
      presence.asked(worker);
      if (busy === false) await reconcile(worker);
      if (closed || worker.retiring) {
        await held(worker, dismissedHold, signal, aborted);
        return [];
      }
      worker.asking++;
      try {
        return await held(worker, timings.takeHold, signal, (until) => takeFirst(worker, max, until, signal));
      } finally {
        worker.asking--;
        worker.lastAskAt = clock.now();
        // From now on its silence is watched.
        changed(worker.endpointId);
      }
    },

    /** Connects a worker's pipe, which then receives one job after the other, and requests to stop jobs. */
    connect(worker: Worker, pipe: WorkerPipe): void {
      pipes.set(worker, pipe);
      presence.asked(worker);
      sendNext(worker, pipe);
    },

    /** Takes back jobs whose response never reached the worker. */
    undelivered,

    /** The end of a job. `refresh`: the worker wants to be replaced after it. A worker with a pipe gets its next job. */
    async finish(worker: Worker, jobId: string, outcome: JobOutcome, refresh: boolean): Promise<void> {
      if (refresh) worker.retiring = true;
      const result = jobs.finish(jobId, worker.id, outcome);
      // Before the result is committed.
      const pipe = pipes.get(worker);
      if (pipe) sendNext(worker, pipe);
      if (await result) return;
      log.debug({ worker: worker.id, job: jobId }, "worker: result ignored; the job is not assigned to it");
      worker.jobs.delete(jobId);
      worker.stopping.delete(jobId);
      freed(worker);
    },

    /** Jobs that the worker has to stop; waits for the first one. */
    stops: stops.poll,

    /** Gives a worker no more jobs and ends its waits. */
    dismiss(worker: Worker): void {
      worker.retiring = true;
      leaveQueue(worker);
      wake(worker);
    },

    /** Stops assigning jobs. */
    close(): void {
      closed = true;
      for (const worker of [...takers.keys()]) leaveQueue(worker);
      wakeAll();
    },
  };
}
