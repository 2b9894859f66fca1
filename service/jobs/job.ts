import { finalStatus, type JobStatus, jobStatus } from "serverless-compute-api/shapes";

/** The operation that submitted a job; it selects the form of its id and its retention. */
export type JobOperation = "run" | "runsync" | "openai";

/** A submission; the caller sets id, times and JSON texts. */
export interface NewJob {
  id: string;
  endpointId: string;
  operation: JobOperation;
  lowPriority: boolean;
  /** The job's execution timeout, ms. Defaults to the endpoint's. */
  executionTimeout: number | undefined;
  createdAt: number;
  /** The end of its ttl. */
  expiresAt: number;
  webhook: string | undefined;
  /** JSON text. Like the input, it is for the worker only. */
  s3Config: string | undefined;
  input: string;
}

/** The properties of a job in every state, without input and output. Times are ms since the epoch. */
export interface JobFacts extends Omit<NewJob, "input" | "s3Config"> {
  /** Its number in the store. */
  seq: number;
  /** The time at which it was queued last. */
  queuedAt: number;
  /** Its position in the queue, the lowest first. Not a time: clocks are set back, and many jobs share a millisecond. */
  place: number;
  /** Number of requeues. */
  retries: number;
  /** Number of workers that crashed with it. */
  crashes: number;
  /** Numbers of stream chunks so far, and of those that were read. */
  chunks: number;
  chunksRead: number;
}

/**
 * The properties that depend on the state. Every job has every property, so that all have one hidden class in V8: with optional
 * properties a transition took ten times as long.
 */
interface Waits {
  workerId: undefined;
  startedAt: undefined;
  finishedAt: undefined;
  error: undefined;
  /** True if its worker has sent a progress update. */
  hasOutput: boolean;
}
type Runs = Omit<Waits, "workerId" | "startedAt"> & { workerId: string; startedAt: number };
type Ran = Omit<Runs, "finishedAt"> & { finishedAt: number };
/** A final job that may not have run: cancelled while it waited, or refused. */
type MayHaveRun = Omit<Ran, "workerId" | "startedAt"> & { workerId: string | undefined; startedAt: number | undefined };

export type QueuedJob = JobFacts & Waits & { status: "IN_QUEUE" };
export type RunningJob = JobFacts & Runs & { status: "IN_PROGRESS" };
export type CompletedJob = JobFacts & Ran & { status: "COMPLETED" };
export type FailedJob = JobFacts & Omit<MayHaveRun, "error"> & { status: "FAILED"; error: string };
export type CancelledJob = JobFacts & MayHaveRun & { status: "CANCELLED" };
export type TimedOutJob = JobFacts & Omit<Ran, "error"> & { status: "TIMED_OUT"; error: string };
export type LiveJob = QueuedJob | RunningJob;
export type FinalJob = CompletedJob | FailedJob | CancelledJob | TimedOutJob;
export type Job = LiveJob | FinalJob;

/** A job with its payload, for its worker. */
export interface TakenJob {
  job: RunningJob;
  /** JSON text. */
  input: string;
  s3Config: string | undefined;
}

/** The target state of a job that leaves the record. */
export const removed = "REMOVED";

/** All transitions of a job by their trigger (interface: States and transitions). No other transition is possible. */
export const transitions = {
  /** A worker takes it. */
  take: { from: ["IN_QUEUE"], to: "IN_PROGRESS" },
  /** Its handler returned. */
  complete: { from: ["IN_PROGRESS"], to: "COMPLETED" },
  /** Its handler failed, or its workers crashed too often. */
  fail: { from: ["IN_PROGRESS"], to: "FAILED" },
  /** Its workers end repeatedly before they request a job. */
  refuse: { from: ["IN_QUEUE"], to: "FAILED" },
  /** It ran longer than its execution timeout. */
  timeOut: { from: ["IN_PROGRESS"], to: "TIMED_OUT" },
  /** Its worker is lost, so it is requeued. */
  giveBack: { from: ["IN_PROGRESS"], to: "IN_QUEUE" },
  /** POST /cancel. */
  cancel: { from: ["IN_QUEUE", "IN_PROGRESS"], to: "CANCELLED" },
  /** POST /retry. */
  retry: { from: ["FAILED", "TIMED_OUT"], to: "IN_QUEUE" },
  /** POST /purge-queue. */
  purge: { from: ["IN_QUEUE"], to: removed },
  /** Its ttl is over. */
  outlive: { from: jobStatus.options, to: removed },
  /** Its retention is over. */
  expire: { from: finalStatus.options, to: removed },
} as const satisfies Record<string, { from: readonly JobStatus[]; to: JobStatus | typeof removed }>;
export type JobTrigger = keyof typeof transitions;

type In<Status> = Extract<Job, { status: Status }>;
/** The job before and after a transition. */
type Before<Trigger extends JobTrigger> = In<(typeof transitions)[Trigger]["from"][number]>;
type After<Trigger extends JobTrigger> = In<(typeof transitions)[Trigger]["to"]>;

/** Returns whether the state of a job allows a trigger. */
export const allows = <Trigger extends JobTrigger>(job: Job | undefined, trigger: Trigger): job is Before<Trigger> => {
  const from: readonly JobStatus[] = transitions[trigger].from;
  return job !== undefined && from.includes(job.status);
};

/** Returns whether a job is over. */
export const isOver = (job: Job): job is FinalJob => allows(job, "expire");

/** The record of a submission with its number and place in the queue. */
export const queued = (job: NewJob, seq: number, place: number): QueuedJob => ({
  id: job.id,
  seq,
  endpointId: job.endpointId,
  operation: job.operation,
  lowPriority: job.lowPriority,
  executionTimeout: job.executionTimeout,
  createdAt: job.createdAt,
  queuedAt: job.createdAt,
  place,
  expiresAt: job.expiresAt,
  retries: 0,
  crashes: 0,
  chunks: 0,
  chunksRead: 0,
  webhook: job.webhook,
  status: "IN_QUEUE",
  workerId: undefined,
  startedAt: undefined,
  finishedAt: undefined,
  error: undefined,
  hasOutput: false,
});

export const taken = (job: Before<"take">, workerId: string, now: number): After<"take"> => ({
  ...job,
  status: "IN_PROGRESS",
  workerId,
  startedAt: now,
});

export const completed = (job: Before<"complete">, now: number): After<"complete"> => ({
  ...job,
  status: "COMPLETED",
  finishedAt: now,
});

export const failed = (job: Before<"fail" | "refuse">, error: string, now: number): After<"fail"> => ({
  ...job,
  status: "FAILED",
  finishedAt: now,
  error,
});

export const timedOut = (job: Before<"timeOut">, error: string, now: number): After<"timeOut"> => ({
  ...job,
  status: "TIMED_OUT",
  finishedAt: now,
  error,
});

export const cancelled = (job: Before<"cancel">, now: number): After<"cancel"> => ({
  ...job,
  status: "CANCELLED",
  finishedAt: now,
});

/** A requeued job without output: at its old place after the loss of a worker, or at a new `place` after /retry. */
export const queuedAgain = (
  job: Before<"giveBack" | "retry">,
  changes: Partial<Pick<JobFacts, "queuedAt" | "place" | "retries" | "crashes">>,
): After<"giveBack" | "retry"> => ({
  ...job,
  status: "IN_QUEUE",
  workerId: undefined,
  startedAt: undefined,
  finishedAt: undefined,
  error: undefined,
  hasOutput: false,
  chunks: 0,
  chunksRead: 0,
  ...changes,
});

/** Time in the queue, ms; so far if the job still waits. */
export function delayTime(job: Job, now: number): number {
  return (job.startedAt ?? job.finishedAt ?? now) - job.queuedAt;
}

/** Execution time, ms; so far if the job still runs. */
export function executionTime(job: Job, now: number): number {
  return job.startedAt === undefined ? 0 : (job.finishedAt ?? now) - job.startedAt;
}

/** The record that /status and webhooks send, as JSON text with the unchanged output. */
export function recordText(job: Job, output: string | undefined, now: number): string {
  const delay = Math.max(0, delayTime(job, now));
  const execution = Math.max(0, executionTime(job, now));
  let text = `{"id":"${job.id}","status":"${job.status}","delayTime":${delay},"executionTime":${execution}`;
  // Workers elsewhere choose their ids.
  if (job.workerId !== undefined) text += `,"workerId":${JSON.stringify(job.workerId)}`;
  if (job.retries > 0) text += `,"retries":${job.retries}`;
  if (job.error !== undefined) text += `,"error":${JSON.stringify(job.error)}`;
  if (output !== undefined) text += `,"output":${output}`;
  return `${text}}`;
}
