import { limits } from "serverless-compute-api/shapes";
import { isOver, type Job, type JobOperation, type JobTrigger } from "./job";
import type { JobTimings } from "./timings";

/** What time does to jobs, and when. */
export interface JobDeadlines {
  /** How long the job may run, ms: its own policy before the endpoint's before the default. */
  executionLimit(job: Job): number;
  /** When time does something to a job next. */
  dueAt(job: Job): number;
  /** What time has done to a job by `now`; undefined when nothing yet. */
  triggerDue(job: Job, now: number): JobTrigger | undefined;
  /** Whether clients see the job no more: what is due is over, even when the supervisor comes a moment later. */
  isGone(job: Job, now: number): boolean;
}

/** `executionTimeout` is an endpoint's own limit in ms, when it has one. */
export function createDeadlines(
  executionTimeout: (endpointId: string) => number | undefined,
  { runRetention, runsyncRetention }: Pick<JobTimings, "runRetention" | "runsyncRetention">,
): JobDeadlines {
  const retention: Record<JobOperation, number> = {
    run: runRetention,
    runsync: runsyncRetention,
    openai: runsyncRetention,
  };
  const executionLimit = (job: Job): number =>
    job.executionTimeout ?? executionTimeout(job.endpointId) ?? limits.executionTimeout.default;

  /** When the job's own time is over; its ttl may be over before. */
  function ownEnd(job: Job): number {
    if (isOver(job)) return job.finishedAt + retention[job.operation];
    return job.status === "IN_PROGRESS" ? job.startedAt + executionLimit(job) : Number.POSITIVE_INFINITY;
  }

  function triggerDue(job: Job, now: number): JobTrigger | undefined {
    const own = ownEnd(job);
    if (Math.min(own, job.expiresAt) > now) return undefined;
    if (own >= job.expiresAt) return "outlive";
    return isOver(job) ? "expire" : "timeOut";
  }

  return {
    executionLimit,
    dueAt: (job) => Math.min(ownEnd(job), job.expiresAt),
    triggerDue,
    isGone(job, now) {
      const trigger = triggerDue(job, now);
      // A job that ran out of its own time is still there, unless its ttl is over as well.
      return job.expiresAt <= now || (trigger !== undefined && trigger !== "timeOut");
    },
  };
}
