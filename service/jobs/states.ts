import type { JobStatus } from "serverless-compute-api/shapes";

/** What happens to a job. */
export const jobTriggers = [
  /** A worker picks it up. */
  "take",
  /** Its handler answered. */
  "complete",
  /** Its handler failed, or its workers crashed too often. */
  "fail",
  /** The workers that it waits for end again and again before they ask for a job. */
  "refuse",
  /** It ran longer than its execution time-out. */
  "timeOut",
  /** Its worker is gone, so it waits for another one. */
  "giveBack",
  /** POST /cancel. */
  "cancel",
  /** POST /retry. */
  "retry",
  /** POST /purge-queue. */
  "purge",
  /** Its ttl is over. */
  "outlive",
  /** The time that its result is kept is over. */
  "expire",
] as const;
export type JobTrigger = (typeof jobTriggers)[number];

/** Where a job goes that leaves the record. */
export const removed = "REMOVED";
export type JobTarget = JobStatus | typeof removed;

/**
 * Every move of a job (interface: States and transitions); what is not here cannot happen.
 * The store holds the same table as a trigger, so that no fault of the code gets past it.
 */
const transitions: Record<JobStatus, Partial<Record<JobTrigger, JobTarget>>> = {
  IN_QUEUE: { take: "IN_PROGRESS", refuse: "FAILED", cancel: "CANCELLED", purge: removed, outlive: removed },
  IN_PROGRESS: {
    complete: "COMPLETED",
    fail: "FAILED",
    timeOut: "TIMED_OUT",
    giveBack: "IN_QUEUE",
    cancel: "CANCELLED",
    outlive: removed,
  },
  COMPLETED: { outlive: removed, expire: removed },
  FAILED: { retry: "IN_QUEUE", outlive: removed, expire: removed },
  CANCELLED: { outlive: removed, expire: removed },
  TIMED_OUT: { retry: "IN_QUEUE", outlive: removed, expire: removed },
};

/** Where `trigger` takes a job in `status`; undefined when it cannot happen there. */
export const nextState = (status: JobStatus, trigger: JobTrigger): JobTarget | undefined =>
  transitions[status][trigger];
