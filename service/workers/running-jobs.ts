import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { JobEvents } from "../queue/events";
import type { RequeueReason, RunningJob } from "../queue/job";
import type { Jobs } from "../queue/queue";
import type { ServiceTimings } from "../timings";
import type { WorkerRegistry } from "./registry";
import type { Worker } from "./worker";

/** Records the ends of jobs at their workers, and requeues jobs that a worker does not run. */
export function createRunningJobs({
  jobs,
  events,
  registry,
  clock,
  timings,
  log,
  requestStop,
}: {
  jobs: Pick<Jobs, "requeue">;
  events: JobEvents;
  registry: WorkerRegistry;
  clock: Clock;
  timings: Pick<ServiceTimings, "lostJob">;
  log: Pick<Logger, "warn" | "error">;
  /** Requests a worker to stop a job that has ended. */
  requestStop(worker: Worker, jobId: string): void;
}) {
  events.on("ended", ({ status }, before) => {
    if (before.status === "IN_PROGRESS") recordEnd(before, status === "CANCELLED" || status === "TIMED_OUT");
  });
  events.on("removed", (job) => {
    if (job.status === "IN_PROGRESS") recordEnd(job, true);
  });

  /** Records the end of a job; with `stop`, its worker still runs it and must stop it. */
  function recordEnd({ id, endpointId, workerId }: RunningJob, stop: boolean): void {
    const worker = registry.find(endpointId, workerId);
    if (!worker?.jobs.has(id)) return;
    if (stop) requestStop(worker, id);
    else worker.released(id);
  }

  return {
    /** Applies a worker's report that it runs no jobs: stopped jobs have ended, and assigned jobs are lost. */
    async requeueLost(worker: Worker): Promise<void> {
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
    },

    /** Requeues jobs that the worker has not run: they did not reach it, or it ends before its start is complete. */
    async requeueUndelivered(worker: Worker, jobIds: string[]): Promise<void> {
      for (const jobId of jobIds) {
        worker.released(jobId);
        await jobs.requeue(jobId, worker, "undelivered", "the worker had ended");
      }
    },

    /** Waits up to `deadline` ms until no worker runs a job; ignores workers that have not called since the service's start. */
    async waitForEnd(deadline: number): Promise<void> {
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
    },

    /** Requeues all jobs of a worker that has ended; `error` returns the error of a job that has crashed too many workers. */
    async requeueAll(worker: Worker, reason: RequeueReason, error: () => string): Promise<void> {
      for (const jobId of [...worker.jobs.keys()])
        await jobs
          .requeue(jobId, worker, reason, error())
          .catch((fault) =>
            log.error({ err: fault, job: jobId }, "job: cannot be requeued from a lost worker; retrying"),
          );
    },
  };
}
