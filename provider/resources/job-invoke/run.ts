import {
  type ApiError,
  type EndpointHealth,
  isApiError,
  type JobRecord,
  type JobStatus,
  readDespiteOutage,
} from "serverless-compute-api";
import { createRedaction } from "serverless-compute-api/redaction";
import { isFinal, jobVisibility, limits } from "serverless-compute-api/shapes";
import {
  type CallContext,
  callOptions,
  cleanupCallOptions,
  completeDespiteCancel,
  isCancelledOrExpired,
} from "../../framework/calls";
import { UserError } from "../../framework/errors";
import { toUserError } from "../../framework/messages";
import type { JobSpec } from "./inputs";

const second = 1000;

/** Polling interval in the first 5 s of a job (ms); shorter for `sync`, which is intended for short jobs. */
const firstInterval = { async: 250, sync: 75 } as const satisfies Record<JobSpec["mode"], number>;

/**
 * Polling interval (ms) of a job that started `elapsed` ms ago. The median delay until its end is detected is half the interval: at
 * most 250 ms within ten minutes, the default execution timeout (interface: Limits), then 1/2400 of the elapsed time. An hour takes
 * 3,700 polls.
 */
export const pollInterval = (elapsed: number, mode: JobSpec["mode"]): number =>
  elapsed < 5 * second ? firstInterval[mode] : Math.min(Math.max(400, elapsed / 1200), 2 * second);

/** First and longest interval between unchanged progress lines (ms), longer than polls because a CI log keeps each line. */
const firstProgressInterval = 500;
const maxProgressInterval = 2000;

/** Time in the queue before the endpoint's health is read, and interval between reads (ms). */
const firstHealthRead = 5000;
const healthInterval = 30_000;

/** A job without a final state: it exceeded its time limit, or the service no longer has it. */
export type UnfinishedJob =
  | {
      end: "timeout";
      jobId: string;
      /** Last known state. */
      status: JobStatus;
      /** Waiting time (ms). */
      waitTime: number;
      cancelled: boolean;
    }
  | {
      end: "gone";
      jobId: string;
      /** False if the service never showed the job. */
      wasVisible: boolean;
    };

/** The end of a job: its record with any final state, or the reason why it has none. */
export type JobOutcome = { end: "final"; job: JobRecord } | UnfinishedJob;

/**
 * Runs a job to its end. The submission is sent once; a lost response rejects. The job is cancelled if it does not finish in time
 * or if the signal aborts.
 */
export async function runJob(spec: JobSpec, context: CallContext): Promise<JobOutcome> {
  const { clock, signal } = context;
  const timeLimit = Math.min(spec.timeout * 1000, (context.deadline ?? Number.POSITIVE_INFINITY) - clock.now());
  const startTime = clock.now();
  const submittedJob = await submit(spec, context);
  // The result of an unfinished job is no longer needed, so it must not occupy a worker.
  const cancelJob = async () => {
    const record = await cancel(spec.endpointId, submittedJob.id, context);
    // A cancelled operation rejects with the reason of its cancellation, which does not name the job.
    if (signal.aborted) context.progress(`job ${submittedJob.id} on endpoint "${spec.endpointId}" ${endOf(record)}`);
    return record;
  };
  const outcome = await waitUntilFinal(spec, submittedJob, startTime + timeLimit, timeLimit, context).catch(
    async (error: unknown) => {
      if (isApiError(error) && !signal.aborted) return { end: "unreadable" as const, error };
      await cancelJob();
      throw error;
    },
  );
  if (outcome.end === "final" || outcome.end === "gone") return outcome;
  const record = await cancelJob();
  if (signal.aborted && outcome.end === "timeout") return outcome;
  if (record && isFinal(record.status) && record.status !== "CANCELLED") return { end: "final", job: record };
  const cancelled = record?.status === "CANCELLED";
  if (outcome.end === "timeout") return { ...outcome, cancelled };
  throw unreadableFailure(outcome.error, submittedJob, cancelled, spec, context);
}

/** Returns the failure of a job whose state could not be read. */
function unreadableFailure(
  error: ApiError,
  { id }: JobRecord,
  cancelled: boolean,
  { endpointId }: JobSpec,
  { settings }: CallContext,
): UserError {
  const label = `job ${id} on endpoint "${endpointId}"`;
  const { message, help } = toUserError(error, { label, operation: "create", names: settings.names });
  return new UserError(`${message}\nThe job ${cancellationText(cancelled)}.`, { cause: error, help });
}

/** Returns the end of a sentence about a job after its cancellation. */
const endOf = (record: JobRecord | undefined): string =>
  record && isFinal(record.status) && record.status !== "CANCELLED"
    ? `ended as ${record.status}`
    : cancellationText(record?.status === "CANCELLED");

/** Returns the end of a sentence about a job that did not finish. */
export const cancellationText = (cancelled: boolean): string =>
  cancelled ? "was cancelled" : "could not be cancelled and may still run";

function submit(spec: JobSpec, context: CallContext): Promise<JobRecord> {
  const { endpointId, input = {}, mode, policy, webhook, s3Config } = spec;
  const submission = { input, policy, webhook, s3Config };
  // The shortest wait, because a cancellation requires the id; longer jobs are polled with /status.
  const wait = limits.runsyncWait.min;
  const { jobs } = context.clients;
  return completeDespiteCancel(context, (options) =>
    mode === "sync"
      ? jobs.runsync(endpointId, submission, { ...options, wait })
      : jobs.run(endpointId, submission, options),
  );
}

async function waitUntilFinal(
  { endpointId, mode }: JobSpec,
  submittedJob: JobRecord,
  deadline: number,
  timeLimit: number,
  context: CallContext,
): Promise<JobOutcome> {
  const { clock, signal } = context;
  let job = submittedJob;
  let nextHealthRead = firstHealthRead;
  let reason: string | undefined;
  let reportedState = "";
  let nextProgressTime = 0;
  let progressInterval = firstProgressInterval;
  while (!isFinal(job.status)) {
    const remaining = deadline - clock.now();
    const elapsed = timeLimit - remaining;
    if (remaining <= 0)
      return { end: "timeout", jobId: job.id, status: job.status, waitTime: elapsed, cancelled: false };
    const isQueued = job.status === "IN_QUEUE";
    if (isQueued && elapsed >= nextHealthRead) {
      nextHealthRead = elapsed + healthInterval;
      const health = await context.clients.jobs.health(endpointId, cleanupCallOptions(context)).catch(() => undefined);
      reason = health && waitReasonOf(health, context);
    }
    const cause = isQueued && reason ? `; ${reason.split("\n", 1)}` : "";
    if (elapsed >= nextProgressTime || reportedState !== job.status + cause) {
      reportedState = job.status + cause;
      nextProgressTime = elapsed + progressInterval;
      progressInterval = Math.min(progressInterval * 1.5, maxProgressInterval);
      const time = `${Math.round(elapsed / second)} s of at most ${Math.round(timeLimit / second)} s`;
      context.progress(`job ${job.id} ${job.status}: ${time}${cause}`);
    }
    await clock.sleep(Math.min(pollInterval(elapsed, mode), remaining), signal);
    const polled = await poll(endpointId, job.id, deadline - clock.now(), context);
    const age = timeLimit - (deadline - clock.now());
    if (!polled && age >= jobVisibility.maxDelay)
      return { end: "gone", jobId: job.id, wasVisible: job !== submittedJob };
    job = polled ?? job;
  }
  context.progress(`job ${job.id} ${job.status}`);
  return { end: "final", job };
}

/** Returns the reason why jobs wait. Only the local service reports it, in an additional field. */
export function waitReasonOf({ message }: EndpointHealth, { secrets }: CallContext): string | undefined {
  if (typeof message !== "string" || message.trim() === "") return undefined;
  return createRedaction(secrets.values)(message.trim());
}

/** Returns the job's record; undefined if the service has no such job, or does not show it within `timeLimit` ms. */
async function poll(
  endpointId: string,
  jobId: string,
  timeLimit: number,
  context: CallContext,
): Promise<JobRecord | undefined> {
  const { clients, clock, signal } = context;
  const read = () => {
    // The last poll runs after the time limit of the operation's calls, in the time reserved for cleanup.
    const options = isCancelledOrExpired(context) ? cleanupCallOptions(context) : callOptions(context);
    return clients.jobs.status(endpointId, jobId, { ...options, visibilityLimit: timeLimit });
  };
  try {
    return await readDespiteOutage(read, clock, { signal, timeLimit });
  } catch (error) {
    if (isApiError(error, "missing")) return undefined;
    throw error;
  }
}

/** Cancels a job and returns its record; undefined if its state is unknown. */
async function cancel(endpointId: string, jobId: string, context: CallContext): Promise<JobRecord | undefined> {
  const { clients } = context;
  try {
    return await clients.jobs.cancel(endpointId, jobId, cleanupCallOptions(context));
  } catch {
    // The job may have just ended; then its record contains the state. An unresponsive service is ignored.
    const options = { ...cleanupCallOptions(context), visibilityLimit: 0 };
    return clients.jobs.status(endpointId, jobId, options).catch(() => undefined);
  }
}
