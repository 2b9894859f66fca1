import { limits } from "serverless-compute-api/shapes";
import { isOver, type Job, type JobOperation, type JobTrigger } from "./job";
import type { JobTimings } from "./timings";

export type JobDeadlines = ReturnType<typeof createDeadlines>;

/** What time does to jobs, and when. `executionTimeout` is an endpoint's own limit in ms, when it has one. */
export function createDeadlines(
  executionTimeout: (endpointId: string) => number | undefined,
  { runRetention, runsyncRetention }: Pick<JobTimings, "runRetention" | "runsyncRetention">,
) {
  const retention: Record<JobOperation, number> = {
    run: runRetention,
    runsync: runsyncRetention,
    openai: runsyncRetention,
  };
  /** How long the job may run, ms: its own policy before the endpoint's before the default. */
  const executionLimit = (job: Job): number =>
    job.executionTimeout ?? executionTimeout(job.endpointId) ?? limits.executionTimeout.default;

  /** When the job's own time is over; its ttl may be over before. */
  function ownEnd(job: Job): number {
    if (isOver(job)) return job.finishedAt + retention[job.operation];
    return job.status === "IN_PROGRESS" ? job.startedAt + executionLimit(job) : Number.POSITIVE_INFINITY;
  }

  /** What time has done to a job by `now`; undefined when nothing yet. */
  function triggerDue(job: Job, now: number): JobTrigger | undefined {
    const own = ownEnd(job);
    if (Math.min(own, job.expiresAt) > now) return undefined;
    if (own >= job.expiresAt) return "outlive";
    return isOver(job) ? "expire" : "timeOut";
  }

  return {
    executionLimit,
    /** When time does something to a job next. */
    dueAt: (job: Job): number => Math.min(ownEnd(job), job.expiresAt),
    triggerDue,
    /** Returns true if clients see the job no more: what is due is over, even when the supervisor comes a moment later. */
    isGone(job: Job, now: number): boolean {
      const trigger = triggerDue(job, now);
      // A job that ran out of its own time is still there, unless its ttl is over as well.
      return job.expiresAt <= now || (trigger !== undefined && trigger !== "timeOut");
    },
  };
}
