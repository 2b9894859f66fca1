import type { FinalStatus, JobStatus } from "serverless-compute-api/shapes";

/** How a job came in; it decides the form of its id and how long its result is kept. */
export type JobOperation = "run" | "runsync" | "openai";

/** What is known of a job in every state, but for its input and output. Times are ms since the epoch. */
export interface JobFacts {
  id: string;
  /** Its number in the store. */
  seq: number;
  endpointId: string;
  operation: JobOperation;
  lowPriority: boolean;
  /** The job's own limit of its run, ms; the endpoint's applies when absent. */
  executionTimeout: number | undefined;
  createdAt: number;
  /** When it last came into the queue. */
  queuedAt: number;
  /** Its turn in the queue: the lower, the earlier. No time, since clocks are set back and a millisecond holds many jobs. */
  place: number;
  /** When its ttl is over. */
  expiresAt: number;
  /** How often it was queued again. */
  retries: number;
  /** How many workers crashed with it. */
  crashes: number;
  /** Stream chunks so far, and how many of them were read. */
  chunks: number;
  chunksRead: number;
  webhook: string | undefined;
}

interface Ran {
  workerId: string;
  startedAt: number;
  finishedAt: number;
}

/** A job may be final without having run: cancelled while it waited, or refused. */
type MayHaveRun = Omit<Ran, "workerId" | "startedAt"> & { workerId: string | undefined; startedAt: number | undefined };

export type QueuedJob = JobFacts & { status: "IN_QUEUE" };
export type RunningJob = JobFacts & {
  status: "IN_PROGRESS";
  workerId: string;
  startedAt: number;
};
export type CompletedJob = JobFacts & Ran & { status: "COMPLETED" };
export type FailedJob = JobFacts & MayHaveRun & { status: "FAILED"; error: string };
export type CancelledJob = JobFacts & MayHaveRun & { status: "CANCELLED" };
export type TimedOutJob = JobFacts & Ran & { status: "TIMED_OUT"; error: string };
export type FinalJob = CompletedJob | FailedJob | CancelledJob | TimedOutJob;
export type Job = QueuedJob | RunningJob | FinalJob;

/** What a worker gets of a job. */
export interface TakenJob {
  job: RunningJob;
  /** JSON text. */
  input: string;
  s3Config: string | undefined;
}

/** Whether a job is over. */
export const isOver = (job: Job): job is FinalJob => job.status !== "IN_QUEUE" && job.status !== "IN_PROGRESS";

const finished: Record<FinalStatus, true> = { COMPLETED: true, FAILED: true, CANCELLED: true, TIMED_OUT: true };
/** The states in which a job is over. */
export const isOverStatus = (status: JobStatus): status is FinalStatus => status in finished;

/** Milliseconds that the job waited, so far when it still waits. */
export function delayTime(job: Job, now: number): number {
  if (job.status === "IN_QUEUE") return now - job.queuedAt;
  if (job.startedAt !== undefined) return job.startedAt - job.queuedAt;
  return "finishedAt" in job ? job.finishedAt - job.queuedAt : 0;
}

/** Milliseconds that the job ran, so far when it still runs. */
export function executionTime(job: Job, now: number): number {
  if (job.status === "IN_QUEUE" || job.startedAt === undefined) return 0;
  return ("finishedAt" in job ? job.finishedAt : now) - job.startedAt;
}

/** The record as /status and webhooks tell it, as JSON text: the output is passed on as it came. */
export function recordText(job: Job, output: string | undefined, now: number): string {
  const error = job.status === "FAILED" || job.status === "TIMED_OUT" ? job.error : undefined;
  const worker = "workerId" in job ? job.workerId : undefined;
  const head = JSON.stringify({
    id: job.id,
    status: job.status,
    delayTime: Math.max(0, delayTime(job, now)),
    executionTime: Math.max(0, executionTime(job, now)),
    ...(worker === undefined ? {} : { workerId: worker }),
    ...(job.retries === 0 ? {} : { retries: job.retries }),
    ...(error === undefined ? {} : { error }),
  });
  return output === undefined ? head : `${head.slice(0, -1)},"output":${output}}`;
}
