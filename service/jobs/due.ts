import { limits } from "serverless-compute-api/shapes";
import { isOver, type Job, type JobOperation } from "./job";
import type { JobTrigger } from "./states";

/** How long a result is kept after the end (interface: Limits), ms. */
const retention: Record<JobOperation, number> = {
  run: limits.retention.run,
  runsync: limits.retention.runsync,
  openai: limits.retention.runsync,
};

/** What time does to a job, and when. `executionTimeout` is the endpoint's own limit in ms, when it has one. */
function deadline(job: Job, executionTimeout: number | undefined): { at: number; trigger: JobTrigger } {
  const outlived = { at: job.expiresAt, trigger: "outlive" } as const;
  const next = isOver(job)
    ? ({ at: job.finishedAt + retention[job.operation], trigger: "expire" } as const)
    : job.status === "IN_PROGRESS"
      ? ({ at: job.startedAt + executionLimit(job, executionTimeout), trigger: "timeOut" } as const)
      : outlived;
  return next.at < outlived.at ? next : outlived;
}

/** How long the job may run, ms: its own policy before the endpoint's before the default. */
export const executionLimit = (job: Job, executionTimeout: number | undefined): number =>
  job.executionTimeout ?? executionTimeout ?? limits.executionTimeout.default;

/** When the supervisor has to look at a job next. */
export const dueAt = (job: Job, executionTimeout: number | undefined): number => deadline(job, executionTimeout).at;

/** What time has done to a job by `now`; undefined when nothing yet. */
export function triggerDue(job: Job, executionTimeout: number | undefined, now: number): JobTrigger | undefined {
  const { at, trigger } = deadline(job, executionTimeout);
  return at <= now ? trigger : undefined;
}
