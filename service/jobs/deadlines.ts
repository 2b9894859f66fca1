import { limits } from "serverless-compute-api/shapes";
import { isOver, type Job, type JobOperation, type JobTrigger } from "./job";
import type { JobTimings } from "./timings";

export type JobDeadlines = ReturnType<typeof createDeadlines>;

/** The deadlines of jobs. `executionTimeout` returns an endpoint's own timeout, ms. */
export function createDeadlines(
  executionTimeout: (endpointId: string) => number | undefined,
  { runRetention, runsyncRetention }: Pick<JobTimings, "runRetention" | "runsyncRetention">,
) {
  const retention: Record<JobOperation, number> = {
    run: runRetention,
    runsync: runsyncRetention,
    openai: runsyncRetention,
  };
  /** The job's execution timeout, ms: its own, else the endpoint's, else the default. */
  const executionLimit = (job: Job): number =>
    job.executionTimeout ?? executionTimeout(job.endpointId) ?? limits.executionTimeout.default;

  /** The end of the job's execution timeout or retention; its ttl may end before. */
  function ownEnd(job: Job): number {
    if (isOver(job)) return job.finishedAt + retention[job.operation];
    return job.status === "IN_PROGRESS" ? job.startedAt + executionLimit(job) : Number.POSITIVE_INFINITY;
  }

  /** The trigger of a deadline that has passed; undefined for none. */
  function triggerDue(job: Job, now: number): JobTrigger | undefined {
    const own = ownEnd(job);
    if (Math.min(own, job.expiresAt) > now) return undefined;
    if (own >= job.expiresAt) return "outlive";
    return isOver(job) ? "expire" : "timeOut";
  }

  return {
    executionLimit,
    /** The next deadline. */
    dueAt: (job: Job): number => Math.min(ownEnd(job), job.expiresAt),
    triggerDue,
    /** Returns whether the job is hidden from clients: an expired job is, even before the supervisor removes it. */
    isGone(job: Job, now: number): boolean {
      const trigger = triggerDue(job, now);
      // A job whose execution timeout has passed is visible until its ttl is over.
      return job.expiresAt <= now || (trigger !== undefined && trigger !== "timeOut");
    },
  };
}
