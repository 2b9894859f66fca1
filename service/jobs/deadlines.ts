import { type Clock, elapsedTime } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { type FinalJob, isFinal, type Job, type JobOperation, type LiveJob, type RunningJob } from "./job";
import type { JobTimings } from "./timings";

export type JobDeadlines = ReturnType<typeof createDeadlines>;

/**
 * Computes the deadlines of jobs. ttl and retention survive restarts, so they use the wall clock; execution timeouts use monotonic time.
 * `executionTimeout` returns an endpoint's execution timeout, ms.
 */
export function createDeadlines(
  executionTimeout: (endpointId: string) => number | undefined,
  { runRetention, runsyncRetention }: Pick<JobTimings, "runRetention" | "runsyncRetention">,
  clock: Clock,
) {
  const retention: Record<JobOperation, number> = {
    run: runRetention,
    runsync: runsyncRetention,
    openai: runsyncRetention,
  };
  /** The job's execution timeout, ms; defaults to the endpoint's timeout, then to the service's default. */
  const executionLimit = (job: Job): number =>
    job.executionTimeout ?? executionTimeout(job.endpointId) ?? limits.executionTimeout.default;
  const executionTimeLeft = (job: RunningJob): number => job.since + executionLimit(job) - elapsedTime(clock);
  const ttlLeft = (job: Job): number => job.expiresAt - clock.now();
  /** The time of a finished job's removal. */
  const dueAt = (job: FinalJob): number => Math.min(job.finishedAt + retention[job.operation], job.expiresAt);

  return {
    executionLimit,
    dueAt,
    /** The time until the next deadline, ms; negative if it has passed. */
    timeLeft: (job: LiveJob): number =>
      job.status === "IN_PROGRESS" ? Math.min(executionTimeLeft(job), ttlLeft(job)) : ttlLeft(job),
    /** Returns whether the job times out before its ttl expires. */
    timesOut: (job: RunningJob): boolean => executionTimeLeft(job) < ttlLeft(job),
    /**
     * Returns whether the job is hidden from clients. An expired job is hidden even before the supervisor removes it. A job whose
     * execution timeout has passed remains visible until its ttl expires.
     */
    isExpired: (job: Job): boolean => (isFinal(job) ? dueAt(job) : job.expiresAt) <= clock.now(),
  };
}
