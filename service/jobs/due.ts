import { limits } from "serverless-compute-api/shapes";
import { isOver, type Job, type JobOperation } from "./job";
import type { JobTrigger } from "./states";
import type { JobTimings } from "./timings";

/** What time does to jobs, and when. */
export interface JobDeadlines {
  /** How long the job may run, ms: its own policy before the endpoint's before the default. */
  executionLimit(job: Job): number;
  /** When the supervisor has to look at a job next. */
  dueAt(job: Job): number;
  /** What time has done to a job by `now`; undefined when nothing yet. */
  triggerDue(job: Job, now: number): JobTrigger | undefined;
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

  function deadline(job: Job): { at: number; trigger: JobTrigger } {
    const outlived = { at: job.expiresAt, trigger: "outlive" } as const;
    const next = isOver(job)
      ? ({ at: job.finishedAt + retention[job.operation], trigger: "expire" } as const)
      : job.status === "IN_PROGRESS"
        ? ({ at: job.startedAt + executionLimit(job), trigger: "timeOut" } as const)
        : outlived;
    return next.at < outlived.at ? next : outlived;
  }

  return {
    executionLimit,
    dueAt: (job) => deadline(job).at,
    triggerDue(job, now) {
      const { at, trigger } = deadline(job);
      return at <= now ? trigger : undefined;
    },
  };
}
