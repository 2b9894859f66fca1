import { limits } from "serverless-compute-api/shapes";
import { isFinal, type Job, type JobOperation, type RunningJob } from "./job";
import type { JobTimings } from "./timings";

export type JobDeadlines = ReturnType<typeof createDeadlines>;

/** Computes the deadlines of jobs. `executionTimeout` returns an endpoint's execution timeout, ms. */
export function createDeadlines(
  executionTimeout: (endpointId: string) => number | undefined,
  { runRetention, runsyncRetention }: Pick<JobTimings, "runRetention" | "runsyncRetention">,
) {
  const retention: Record<JobOperation, number> = {
    run: runRetention,
    runsync: runsyncRetention,
    openai: runsyncRetention,
  };
  /** The job's execution timeout, ms; defaults to the endpoint's timeout, then to the service's default. */
  const executionLimit = (job: Job): number =>
    job.executionTimeout ?? executionTimeout(job.endpointId) ?? limits.executionTimeout.default;

  /** The end of the job's execution timeout or retention, regardless of its ttl. */
  function stateDeadline(job: Job): number {
    if (isFinal(job)) return job.finishedAt + retention[job.operation];
    return job.status === "IN_PROGRESS" ? job.startedAt + executionLimit(job) : Number.POSITIVE_INFINITY;
  }

  return {
    executionLimit,
    /** The next deadline. */
    dueAt: (job: Job): number => Math.min(stateDeadline(job), job.expiresAt),
    /** Returns whether the job times out before its ttl expires. */
    timesOut: (job: RunningJob): boolean => stateDeadline(job) < job.expiresAt,
    /**
     * Returns whether the job is hidden from clients. An expired job is hidden even before the supervisor removes it. A job whose
     * execution timeout has passed remains visible until its ttl expires.
     */
    isExpired: (job: Job, now: number): boolean => job.expiresAt <= now || (isFinal(job) && stateDeadline(job) <= now),
  };
}
