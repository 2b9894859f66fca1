import { finalStatus, type JobStatus, jobStatus } from "serverless-compute-api/shapes";

/** How a job came in; it decides the form of its id and how long its result is kept. */
export type JobOperation = "run" | "runsync" | "openai";

/** A job as it is submitted; ids, times and JSON texts are made by the caller. */
export interface NewJob {
  id: string;
  endpointId: string;
  operation: JobOperation;
  lowPriority: boolean;
  /** The job's own limit of its run, ms; the endpoint's applies when absent. */
  executionTimeout: number | undefined;
  createdAt: number;
  /** When its ttl is over. */
  expiresAt: number;
  webhook: string | undefined;
  /** JSON text, for the worker only, as the input is. */
  s3Config: string | undefined;
  input: string;
}

/** What is known of a job in every state, but for its input and output. Times are ms since the epoch. */
export interface JobFacts extends Omit<NewJob, "input" | "s3Config"> {
  /** Its number in the store. */
  seq: number;
  /** When it last came into the queue. */
  queuedAt: number;
  /** Its turn in the queue: the lower, the earlier. Not a time: clocks are set back, and a millisecond holds many jobs. */
  place: number;
  /** How often it was queued again. */
  retries: number;
  /** How many workers crashed with it. */
  crashes: number;
  /** Stream chunks so far, and how many of them were read. */
  chunks: number;
  chunksRead: number;
}

/**
 * What depends on the state. Every job has every property, so that the engine can copy one without a look at its shape: with
 * properties that come and go a transition took ten times as long.
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
/** A job may be final without having run: cancelled while it waited, or refused. */
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

/** What a worker gets of a job. */
export interface TakenJob {
  job: RunningJob;
  /** JSON text. */
  input: string;
  s3Config: string | undefined;
}

/** Where a job goes that leaves the record. */
export const removed = "REMOVED";

/** Every transition of a job (interface: States and transitions), by what causes it. What is not here cannot happen. */
export const transitions = {
  /** A worker picks it up. */
  take: { from: ["IN_QUEUE"], to: "IN_PROGRESS" },
  /** Its handler returned. */
  complete: { from: ["IN_PROGRESS"], to: "COMPLETED" },
  /** Its handler failed, or its workers crashed too often. */
  fail: { from: ["IN_PROGRESS"], to: "FAILED" },
  /** The workers that it waits for end again and again before they ask for a job. */
  refuse: { from: ["IN_QUEUE"], to: "FAILED" },
  /** It ran longer than its execution time-out. */
  timeOut: { from: ["IN_PROGRESS"], to: "TIMED_OUT" },
  /** Its worker is gone, so it waits for another one. */
  giveBack: { from: ["IN_PROGRESS"], to: "IN_QUEUE" },
  /** POST /cancel. */
  cancel: { from: ["IN_QUEUE", "IN_PROGRESS"], to: "CANCELLED" },
  /** POST /retry. */
  retry: { from: ["FAILED", "TIMED_OUT"], to: "IN_QUEUE" },
  /** POST /purge-queue. */
  purge: { from: ["IN_QUEUE"], to: removed },
  /** Its ttl is over. */
  outlive: { from: jobStatus.options, to: removed },
  /** The time that its result is kept is over. */
  expire: { from: finalStatus.options, to: removed },
} as const satisfies Record<string, { from: readonly JobStatus[]; to: JobStatus | typeof removed }>;
export type JobTrigger = keyof typeof transitions;

type In<Status> = Extract<Job, { status: Status }>;
/** A job in a state from which `Trigger` takes it elsewhere, and the one that it becomes. */
type Before<Trigger extends JobTrigger> = In<(typeof transitions)[Trigger]["from"][number]>;
type After<Trigger extends JobTrigger> = In<(typeof transitions)[Trigger]["to"]>;

/** Returns true if a trigger can happen to a job in its state. */
export const allows = <Trigger extends JobTrigger>(job: Job | undefined, trigger: Trigger): job is Before<Trigger> => {
  const from: readonly JobStatus[] = transitions[trigger].from;
  return job !== undefined && from.includes(job.status);
};

/** Returns true if a job is over. */
export const isOver = (job: Job): job is FinalJob => allows(job, "expire");

/** The record of a submission, which has this number and place in the queue. */
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

/** Back in the queue: at its old place after a worker was lost, or at the `place` that /retry gives it. Its output is gone. */
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

/** Milliseconds that the job waited, so far when it still waits. */
export function delayTime(job: Job, now: number): number {
  return (job.startedAt ?? job.finishedAt ?? now) - job.queuedAt;
}

/** Milliseconds that the job ran, so far when it still runs. */
export function executionTime(job: Job, now: number): number {
  return job.startedAt === undefined ? 0 : (job.finishedAt ?? now) - job.startedAt;
}

/** The record as /status and webhooks send it, as JSON text: the output is passed on as it came. */
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
