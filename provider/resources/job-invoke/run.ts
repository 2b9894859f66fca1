import { type EndpointHealth, isApiError, type JobRecord, type JobStatus } from "serverless-compute-api";
import { createRedaction } from "serverless-compute-api/redaction";
import { isFinal, limits } from "serverless-compute-api/shapes";
import { callOptions, isOver, making, tidyingOptions } from "../../lifecycle/calls";
import type { Context } from "../../lifecycle/contract";
import type { JobOrder } from "./inputs";

/** Part of a verb's context that a job requires. */
export type JobContext = Pick<
  Context,
  "clients" | "clock" | "signal" | "progress" | "end" | "tidyEnd" | "onDeadline" | "secrets"
>;

const second = 1000;

/** Milliseconds between two looks at a job in its first 5 s. Who chooses `sync` has a short job and wants its end at once. */
const firstLooks = { async: 250, sync: 75 } as const satisfies Record<JobOrder["mode"], number>;

/**
 * Milliseconds to the next look at a job that began `passed` ago. Its end is seen after half of that in the median: at most 250 ms
 * late within ten minutes, the default execution time-out (interface: Limits), then 1/2400 of the time passed. An hour takes 3,700 looks.
 */
const lookInterval = (passed: number, mode: JobOrder["mode"]): number =>
  passed < 5 * second ? firstLooks[mode] : Math.min(Math.max(400, passed / 1200), 2 * second);

/** Milliseconds between two lines of progress while nothing changes: fewer than looks, since a CI log keeps every line. */
const firstLine = 500;
const lastLine = 2000;

/** Milliseconds in the queue after which it is asked why, and between two such questions. */
const firstQuestion = 5000;
const nextQuestion = 30_000;

/** A job that was not over when its time was. */
export class JobTimeout extends Error {
  override readonly name = "JobTimeout";
  constructor(
    readonly jobId: string,
    /** State it was in last. */
    readonly status: JobStatus,
    /** Milliseconds that were waited. */
    readonly waited: number,
    readonly cancelled: boolean,
  ) {
    super(`job ${jobId} is still ${status}`);
  }
}

/** A job that the service does not know any more. */
export class JobGone extends Error {
  override readonly name = "JobGone";
  constructor(readonly jobId: string) {
    super(`job ${jobId} is gone`);
  }
}

/**
 * Runs one job to its end and returns its record, whatever state it ended in. The submission is sent once: a lost response
 * rejects. A job that is not over in time, or when the signal aborts, is cancelled on the service.
 */
export async function runJob(order: JobOrder, context: JobContext): Promise<JobRecord> {
  const { clock, signal } = context;
  const limit = Math.min(order.timeout * 1000, (context.end ?? Number.POSITIVE_INFINITY) - clock.now());
  const started = clock.now();
  const submitted = await submit(order, context);
  try {
    return await untilFinal(order, submitted, started + limit, limit, context);
  } catch (error) {
    if (error instanceof JobGone) throw error;
    // The result is no longer needed, so the job must not occupy a worker.
    const left = await cancel(order.endpointId, submitted.id, context);
    if (signal.aborted || !(error instanceof JobTimeout)) throw error;
    if (left && isFinal(left.status) && left.status !== "CANCELLED") return left;
    throw new JobTimeout(error.jobId, error.status, error.waited, left?.status === "CANCELLED");
  }
}

function submit({ endpointId, input, mode, policy }: JobOrder, context: JobContext): Promise<JobRecord> {
  const submission = { input: input ?? {}, ...(policy ? { policy } : {}) };
  // The shortest wait: the id is needed soon, for a cancellation; a longer job is waited for by /status.
  const wait = limits.runsyncWait.min;
  const { jobs } = context.clients;
  return making(context, (options) =>
    mode === "sync"
      ? jobs.runsync(endpointId, submission, { ...options, wait })
      : jobs.run(endpointId, submission, options),
  );
}

async function untilFinal(
  { endpointId, mode }: JobOrder,
  submitted: JobRecord,
  end: number,
  limit: number,
  context: JobContext,
): Promise<JobRecord> {
  const { clock, signal } = context;
  let job = submitted;
  let question = firstQuestion;
  let reason: string | undefined;
  let shown = "";
  let nextLine = 0;
  let betweenLines = firstLine;
  while (!isFinal(job.status)) {
    const left = end - clock.now();
    const passed = limit - left;
    if (left <= 0) throw new JobTimeout(job.id, job.status, passed, false);
    const waits = job.status === "IN_QUEUE";
    if (waits && passed >= question) {
      question = passed + nextQuestion;
      const health = await context.clients.jobs.health(endpointId, tidyingOptions(context)).catch(() => undefined);
      reason = health && workerProblem(health, context);
    }
    const because = waits && reason ? `; ${reason.split("\n", 1)}` : "";
    if (passed >= nextLine || shown !== job.status + because) {
      shown = job.status + because;
      nextLine = passed + betweenLines;
      betweenLines = Math.min(betweenLines * 1.5, lastLine);
      const time = `${Math.round(passed / second)} s of at most ${Math.round(limit / second)} s`;
      context.progress(`job ${job.id} ${job.status}: ${time}${because}`);
    }
    await clock.sleep(Math.min(lookInterval(passed, mode), left), signal);
    job = await look(endpointId, job.id, context);
  }
  context.progress(`job ${job.id} ${job.status}`);
  return job;
}

/** Returns the reason why no worker starts, which only the local service reports, in a field beyond the interface. */
export function workerProblem({ message }: EndpointHealth, { secrets }: JobContext): string | undefined {
  if (typeof message !== "string" || message.trim() === "") return undefined;
  return createRedaction(secrets?.values ?? [])(message.trim());
}

async function look(endpointId: string, jobId: string, context: JobContext): Promise<JobRecord> {
  // The last look comes when the verb's calls have no time left: what is kept for looking up is its own.
  const options = isOver(context) ? tidyingOptions(context) : callOptions(context);
  try {
    return await context.clients.jobs.status(endpointId, jobId, options);
  } catch (error) {
    throw isApiError(error, "missing") ? new JobGone(jobId) : error;
  }
}

/** Cancels a job; returns the state it is left in, undefined when that is not known. */
async function cancel(endpointId: string, jobId: string, context: JobContext): Promise<JobRecord | undefined> {
  const { clients } = context;
  try {
    return await clients.jobs.cancel(endpointId, jobId, tidyingOptions(context));
  } catch {
    // The job may have just ended; then its record contains the state. An unresponsive service is ignored.
    return clients.jobs.status(endpointId, jobId, tidyingOptions(context)).catch(() => undefined);
  }
}
