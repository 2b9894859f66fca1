import type { NewJob } from "../store/jobs";
import type {
  CancelledJob,
  CompletedJob,
  FailedJob,
  FinalJob,
  JobFacts,
  QueuedJob,
  RunningJob,
  TimedOutJob,
} from "./job";

/** The moves of jobs/states.ts on records: each takes a job in a state it may start from, so a wrong one does not compile. */

const factsOf = (job: JobFacts): JobFacts => ({
  id: job.id,
  seq: job.seq,
  endpointId: job.endpointId,
  operation: job.operation,
  lowPriority: job.lowPriority,
  executionTimeout: job.executionTimeout,
  createdAt: job.createdAt,
  queuedAt: job.queuedAt,
  place: job.place,
  expiresAt: job.expiresAt,
  retries: job.retries,
  crashes: job.crashes,
  chunks: job.chunks,
  chunksRead: job.chunksRead,
  webhook: job.webhook,
});

const endOf = (job: QueuedJob | RunningJob, now: number) => {
  const ran = job.status === "IN_PROGRESS" ? job : undefined;
  return { workerId: ran?.workerId, startedAt: ran?.startedAt, finishedAt: now };
};

/** The record of a submission, which got this number and place in the queue. */
export const queued = (job: NewJob, given: { seq: number; place: number }): QueuedJob => ({
  ...factsOf({ ...job, ...given, queuedAt: job.createdAt, retries: 0, crashes: 0, chunks: 0, chunksRead: 0 }),
  status: "IN_QUEUE",
});

export const taken = (job: QueuedJob, workerId: string, now: number): RunningJob => ({
  ...factsOf(job),
  status: "IN_PROGRESS",
  workerId,
  startedAt: now,
});

export const completed = (job: RunningJob, now: number): CompletedJob => ({
  ...job,
  status: "COMPLETED",
  finishedAt: now,
});

export const failed = (job: QueuedJob | RunningJob, error: string, now: number): FailedJob => ({
  ...factsOf(job),
  ...endOf(job, now),
  status: "FAILED",
  error,
});

export const timedOut = (job: RunningJob, error: string, now: number): TimedOutJob => ({
  ...job,
  status: "TIMED_OUT",
  finishedAt: now,
  error,
});

export const cancelled = (job: QueuedJob | RunningJob, now: number): CancelledJob => ({
  ...factsOf(job),
  ...endOf(job, now),
  status: "CANCELLED",
});

/** Back into the queue: at its old place after a worker was lost, or at the `place` that /retry gives it. Its output is gone. */
export const queuedAgain = (job: RunningJob | FinalJob, changes: Partial<JobFacts>): QueuedJob => ({
  ...factsOf(job),
  chunks: 0,
  chunksRead: 0,
  ...changes,
  status: "IN_QUEUE",
});
