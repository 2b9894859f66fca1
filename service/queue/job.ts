import { finalStatus, type JobStatus, jobStatus } from "serverless-compute-api/shapes";

/** The operation that submitted a job; it selects the form of its id and its retention. */
export type JobOperation = "run" | "runsync" | "openai";

/** A submitted job; the caller sets the id, times and JSON texts. */
export interface NewJob {
  id: string;
  endpointId: string;
  operation: JobOperation;
  lowPriority: boolean;
  /** The job's execution timeout, ms. Defaults to the endpoint's. */
  executionTimeout: number | undefined;
  /** System times of the submission and of the end of the ttl. */
  createdAt: number;
  expiresAt: number;
  /** The time at which the job was last queued. */
  queuedAt: number;
  webhook: string | undefined;
  /** JSON text, sent only to the worker, like the input. */
  s3Config: string | undefined;
  input: string;
}

/**
 * The properties of a job in every state, without input and output. Times are ms since the epoch, those of states by the steady clock: the
 * times of a job in the queue and at a worker must not depend on changes of the system time.
 */
export interface JobProperties extends Omit<NewJob, "input" | "s3Config"> {
  /** The job's number in the store. */
  seq: number;
  /** Position in the queue, lowest first. Not a time, because clocks can move backwards and jobs can share a millisecond. */
  position: number;
  /** Number of requeues. */
  retries: number;
  /** Number of worker crashes during the job. */
  crashes: number;
  /** Number of stream chunks so far. */
  chunks: number;
  /** Number of stream chunks that were read. */
  chunksRead: number;
}

/**
 * State-dependent properties. Every job has every property, so that all jobs share one hidden class in V8; with optional properties,
 * a transition took ten times as long.
 */
interface QueuedState {
  workerId: undefined;
  startedAt: undefined;
  finishedAt: undefined;
  error: undefined;
  /** True if the worker has sent a progress update. */
  hasOutput: boolean;
}
type RunningState = Omit<QueuedState, "workerId" | "startedAt"> & { workerId: string; startedAt: number };
type ExecutedState = Omit<RunningState, "finishedAt"> & { finishedAt: number };
/** A final job that may never have run: cancelled in the queue, or refused. */
type FinalState = Omit<ExecutedState, "workerId" | "startedAt"> & {
  workerId: string | undefined;
  startedAt: number | undefined;
};

export type QueuedJob = JobProperties & QueuedState & { status: "IN_QUEUE" };
export type RunningJob = JobProperties & RunningState & { status: "IN_PROGRESS" };
type CompletedJob = JobProperties & ExecutedState & { status: "COMPLETED" };
type FailedJob = JobProperties & Omit<FinalState, "error"> & { status: "FAILED"; error: string };
type CancelledJob = JobProperties & FinalState & { status: "CANCELLED" };
type TimedOutJob = JobProperties & Omit<ExecutedState, "error"> & { status: "TIMED_OUT"; error: string };
export type LiveJob = QueuedJob | RunningJob;
export type FinalJob = CompletedJob | FailedJob | CancelledJob | TimedOutJob;
export type Job = LiveJob | FinalJob;

/** A worker as jobs refer to it. Its id is unique only among the workers of its endpoint. */
export interface JobWorker {
  readonly id: string;
  readonly endpointId: string;
}

/** A job with its payload, for its worker. */
export interface JobDelivery {
  job: RunningJob;
  /** JSON text; undefined if the worker receives the job without an input. */
  input: string | undefined;
  s3Config: string | undefined;
}

/** A worker's result of a job; a job with an error fails. `output` is JSON text. */
export interface JobOutcome {
  output: string | undefined;
  error?: string | undefined;
}

/** The reason for a requeue. Only a crash counts towards the crash limit. `undelivered` is not counted, because no worker ran the job. */
export type RequeueReason = "crashed" | "interrupted" | "undelivered";

/** The target state of a job that is removed. */
const removed = "REMOVED";

/** All transitions of a job by their trigger (interface: States and transitions). No other transition is possible. */
export const transitions = {
  /** A worker was assigned. */
  assign: { from: ["IN_QUEUE"], to: "IN_PROGRESS" },
  /** The handler returned. */
  complete: { from: ["IN_PROGRESS"], to: "COMPLETED" },
  /** The handler failed, or workers crashed too often. */
  fail: { from: ["IN_PROGRESS"], to: "FAILED" },
  /** Workers repeatedly ended before their first job-take. */
  reject: { from: ["IN_QUEUE"], to: "FAILED" },
  /** The execution timeout passed. */
  timeOut: { from: ["IN_PROGRESS"], to: "TIMED_OUT" },
  /** The worker was lost. */
  requeue: { from: ["IN_PROGRESS"], to: "IN_QUEUE" },
  /** POST /cancel. */
  cancel: { from: ["IN_QUEUE", "IN_PROGRESS"], to: "CANCELLED" },
  /** POST /retry. */
  retry: { from: ["FAILED", "TIMED_OUT"], to: "IN_QUEUE" },
  /** POST /purge-queue. */
  purge: { from: ["IN_QUEUE"], to: removed },
  /** The ttl expired. */
  expireTtl: { from: jobStatus.options, to: removed },
  /** The retention of the result ended. */
  expire: { from: finalStatus.options, to: removed },
} as const satisfies Record<string, { from: readonly JobStatus[]; to: JobStatus | typeof removed }>;
type JobTrigger = keyof typeof transitions;

type JobIn<Status> = Extract<Job, { status: Status }>;
/** The job before and after a transition. */
type JobBefore<Trigger extends JobTrigger> = JobIn<(typeof transitions)[Trigger]["from"][number]>;
type JobAfter<Trigger extends JobTrigger> = JobIn<(typeof transitions)[Trigger]["to"]>;

/** Returns whether the job's state allows a trigger. */
export const canTransition = <Trigger extends JobTrigger>(
  job: Job | undefined,
  trigger: Trigger,
): job is JobBefore<Trigger> => {
  const from: readonly JobStatus[] = transitions[trigger].from;
  return job !== undefined && from.includes(job.status);
};

/** Returns whether a job is over. */
export const isFinal = (job: Job): job is FinalJob => canTransition(job, "expire");

/** A submitted job with its number and its position in the queue. */
export const toQueued = (job: NewJob, seq: number, position: number): QueuedJob => ({
  id: job.id,
  seq,
  endpointId: job.endpointId,
  operation: job.operation,
  lowPriority: job.lowPriority,
  executionTimeout: job.executionTimeout,
  createdAt: job.createdAt,
  queuedAt: job.queuedAt,
  position,
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

export const toRunning = (job: JobBefore<"assign">, workerId: string, now: number): JobAfter<"assign"> => ({
  ...job,
  status: "IN_PROGRESS",
  workerId,
  startedAt: now,
});

export const toCompleted = (job: JobBefore<"complete">, now: number): JobAfter<"complete"> => ({
  ...job,
  status: "COMPLETED",
  finishedAt: now,
});

/** Maximum length of a job's error, in characters; lists read many errors. */
const maxErrorLength = 64 * 1024;

/** Shortens an error that is too long, and adds its length. */
export function limitError(error: string): string {
  if (error.length <= maxErrorLength) return error;
  // Half of a character outside of the basic plane is removed.
  const start = error.slice(0, maxErrorLength).replace(/[\uD800-\uDBFF]$/, "");
  return `${start}… (the error has ${error.length} characters; only the first ${maxErrorLength} are kept)`;
}

export const toFailed = (job: JobBefore<"fail" | "reject">, error: string, now: number): JobAfter<"fail"> => ({
  ...job,
  status: "FAILED",
  finishedAt: now,
  error: limitError(error),
});

export const toTimedOut = (job: JobBefore<"timeOut">, error: string, now: number): JobAfter<"timeOut"> => ({
  ...job,
  status: "TIMED_OUT",
  finishedAt: now,
  error,
});

export const toCancelled = (job: JobBefore<"cancel">, now: number): JobAfter<"cancel"> => ({
  ...job,
  status: "CANCELLED",
  finishedAt: now,
});

/** The reason why /retry rejects a job in this state, as the end of a message. */
export const retryRejection = ({ status }: Pick<Job, "status">): string =>
  `is ${status}; only a ${transitions.retry.from.join(" or ")} job can be retried`;

/** A requeued job without output. It keeps its position after the loss of a worker, and gets a new `position` after /retry. */
export const toRequeued = (
  job: JobBefore<"requeue" | "retry">,
  changes: Partial<Pick<JobProperties, "queuedAt" | "position" | "retries" | "crashes">>,
): JobAfter<"requeue" | "retry"> => ({
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

/** Time spent in the queue so far, ms. */
export function delayTime(job: Job, now: number): number {
  return (job.startedAt ?? job.finishedAt ?? now) - job.queuedAt;
}

/** Execution time so far, ms; 0 if the job has not started. */
export function executionTime(job: Job, now: number): number {
  return job.startedAt === undefined ? 0 : (job.finishedAt ?? now) - job.startedAt;
}

/** The response body of /status and webhooks, as JSON text with the unchanged output. */
export function recordText(job: Job, output: string | undefined, now: number): string {
  const delay = Math.max(0, delayTime(job, now));
  const execution = Math.max(0, executionTime(job, now));
  let text = `{"id":"${job.id}","status":"${job.status}","delayTime":${delay},"executionTime":${execution}`;
  // External workers choose their ids, so these may need escaping.
  if (job.workerId !== undefined) text += `,"workerId":${JSON.stringify(job.workerId)}`;
  if (job.retries > 0) text += `,"retries":${job.retries}`;
  if (job.error !== undefined) text += `,"error":${JSON.stringify(job.error)}`;
  if (output !== undefined) text += `,"output":${output}`;
  return `${text}}`;
}

/** The JSON text of a webhook: the job's record with its input and the address. */
export const webhookText = (record: string, input: string, address: string): string =>
  `${record.slice(0, -1)},"input":${input},"webhook":${JSON.stringify(address)}}`;
