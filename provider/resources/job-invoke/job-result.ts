import { createHash } from "node:crypto";
import { type EndpointHealth, isApiError, type JobStatus } from "serverless-compute-api";
import { createRedaction } from "serverless-compute-api/redaction";
import { showValue } from "serverless-compute-api/shapes";
import { toProperties } from "../../engine/values";
import { type CallContext, cleanupCallOptions } from "../../framework/calls";
import type { UserError } from "../../framework/errors";
import { toUserError } from "../../framework/messages";
import { secretsIn } from "../../framework/properties/secret-paths";
import { type InvokeJobArgs, type JobInvokeOutputs, type JobResult, type JobSpec, parseJobArgs } from "./inputs";
import { jobFailure, truncate } from "./job-failure";
import { findMismatches, formatMismatches } from "./output-match";
import { checkResponse, isRequest, sendRequest } from "./request";
import { cancellationText, runJob, type UnfinishedJob, waitReasonOf } from "./run";

/** Remedies by a job's final state (interface: Job-level situations). */
const remedies: Record<JobStatus, string> = {
  IN_QUEUE:
    "No worker started the job. Raise workersMax, or timeout if its workers start slowly, and check the endpoint's health.",
  IN_PROGRESS: "The job needs more time. Raise timeout, or check the endpoint's logs for the cause of the delay.",
  COMPLETED: "Correct the handler or `expect`.",
  FAILED: "See the endpoint's logs. Correct the handler or the input; the next deployment runs the job again.",
  CANCELLED: "It was cancelled outside this deployment. The next deployment runs a new job.",
  TIMED_OUT: "It exceeded its execution timeout. Raise policy.executionTimeout or the endpoint's executionTimeoutMs.",
};

/** Returns the remedy for a job's state. */
function remedyFor({ input }: JobSpec, status: JobStatus): string {
  const lacksInput = input !== undefined && Object.keys(input).length === 0;
  return lacksInput && status !== "IN_QUEUE" && status !== "COMPLETED"
    ? `The input is empty, and the hosted service removes an empty input; set a property in it. ${remedies[status]}`
    : remedies[status];
}

/** Runs a job, checks its result and returns its outputs; rejects with a UserError if the job does not end as expected. */
export async function runAndCheck(spec: JobSpec, context: CallContext): Promise<JobInvokeOutputs> {
  const job = await runToCompletion(spec, context);
  await checkResult(spec, job, context);
  const { id, status, output, delayTime, executionTime } = job;
  const outputs = {
    jobId: id,
    status,
    output,
    ...(delayTime === undefined ? {} : { delayTime }),
    ...(executionTime === undefined ? {} : { executionTime }),
  };
  return storedOutputs(outputs, spec);
}

/** Returns the outputs for the state, in which the hash and the size may replace the output. */
export function storedOutputs(
  outputs: JobInvokeOutputs,
  { storeOutput }: Pick<JobSpec, "storeOutput">,
): JobInvokeOutputs {
  if (storeOutput) return outputs;
  const { output = null, ...rest } = outputs;
  const text = JSON.stringify(output);
  const outputSha256 = createHash("sha256").update(text).digest("hex");
  return { ...rest, outputSha256, outputSize: Buffer.byteLength(text) };
}

/** Runs a job to any final state, or sends a request; rejects with a UserError if it does not finish. */
export async function runToCompletion(spec: JobSpec, context: CallContext): Promise<JobResult> {
  if (isRequest(spec)) return sendRequest(spec, context);
  const outcome = await runJob(spec, context).catch((error: unknown) => {
    throw submissionFailure(error, spec.endpointId, context);
  });
  if (outcome.end === "final") return outcome.job;
  throw await unfinishedFailure(outcome, spec, context);
}

/** Compares a finished job or a response with the expected result; rejects with a UserError if they differ. */
export async function checkResult(spec: JobSpec, job: JobResult, context: CallContext): Promise<void> {
  if (isRequest(spec)) return checkResponse(spec, job, context);
  const { endpointId, expect } = spec;
  if (job.status !== expect.status) {
    const error = errorText(job.error, createRedaction(context.secrets.values));
    throw jobFailure([
      `job ${job.id} on endpoint "${endpointId}" ended ${job.status}, expected ${expect.status}`,
      error && `error: ${error}`,
      await describeHealth(endpointId, context, error),
      remedyFor(spec, job.status),
    ]);
  }
  const differences = expect.output === undefined ? [] : findMismatches(expect.output, job.output);
  if (differences.length === 0) return;
  const title = `job ${job.id} on endpoint "${endpointId}" ended ${job.status}, but its output differs from the expected one`;
  throw jobFailure([title, ...formatMismatches(differences, context.secrets), remedies.COMPLETED]);
}

async function unfinishedFailure(outcome: UnfinishedJob, spec: JobSpec, context: CallContext): Promise<UserError> {
  const { jobId } = outcome;
  const { endpointId } = spec;
  const location = `on endpoint "${endpointId}"`;
  if (outcome.end === "timeout") {
    const { status, waitTime, cancelled } = outcome;
    return jobFailure([
      `job ${jobId} ${location} was still ${status} after ${Math.round(waitTime / 1000)} s; it ${cancellationText(cancelled)}`,
      await describeHealth(endpointId, context),
      remedyFor(spec, status),
    ]);
  }
  const lines = outcome.wasVisible
    ? ["is gone", "Its policy.ttl or the retention of results has expired, or it was deleted. Raise policy.ttl."]
    : [
        "was accepted, but the service does not know it",
        "It may have lost the job; the next deployment runs a new one.",
      ];
  return jobFailure([`job ${jobId} ${location} ${lines[0]}`, lines[1]]);
}

function submissionFailure(error: unknown, endpointId: string, { settings }: CallContext): unknown {
  if (isApiError(error) && error.ambiguous) {
    const title = `the response to the job's submission on endpoint "${endpointId}" was lost (${error.message})`;
    const remedy = "It may or may not be running, so it was not resubmitted. The next deployment runs it.";
    return jobFailure([title, remedy], error);
  }
  if (isApiError(error, "missing")) {
    const title = `endpoint "${endpointId}" is unknown to the service (${error.message}).`;
    const remedy = `Check endpointId, and that ${settings.names.serverlessUrl} is the address of its service.`;
    return jobFailure([`${title} ${remedy}`], error);
  }
  return error;
}

function errorText(error: unknown, redact: (text: string) => string): string | undefined {
  if (error === undefined || error === null || error === "") return undefined;
  return truncate(typeof error === "string" ? redact(error.trim()) : showValue(error, redact));
}

/** Describes an endpoint's jobs and workers, and the reason why jobs wait unless it equals `knownProblem`. */
export async function describeHealth(endpointId: string, context: CallContext, knownProblem?: string): Promise<string> {
  try {
    const health = await context.clients.jobs.health(endpointId, cleanupCallOptions(context));
    const problem = truncate(waitReasonOf(health, context));
    return `endpoint: ${formatHealth(health)}${problem === undefined || problem === knownProblem ? "" : `\n${problem}`}`;
  } catch {
    return "endpoint: its health cannot be read";
  }
}

function formatHealth({ jobs, workers }: EndpointHealth): string {
  const formatCounts = (counts: Record<string, unknown>, names: Record<string, string>): string =>
    Object.entries(names)
      .filter(([key]) => counts[key] !== undefined)
      .map(([key, name]) => `${counts[key]} ${name}`)
      .join(", ");
  const jobCounts = formatCounts(jobs, {
    inQueue: "in queue",
    inProgress: "in progress",
    completed: "completed",
    failed: "failed",
    retried: "retried",
  });
  const workerCounts = formatCounts(workers, {
    idle: "idle",
    running: "running",
    initializing: "starting",
    throttled: "throttled",
    ...(workers["unhealthy"] ? { unhealthy: "unhealthy" } : {}),
  });
  return `jobs ${jobCounts}; workers ${workerCounts}`;
}

/** Runs a job from a script; rejects if it does not end as expected, and with one line for each invalid argument. */
export async function invokeJob(args: InvokeJobArgs, context: CallContext): Promise<JobInvokeOutputs> {
  const spec = parseJobArgs(args);
  const secrets = secretsIn([toProperties(spec)], [["s3Config"]]);
  try {
    return await runAndCheck(spec, { ...context, secrets });
  } catch (error) {
    throw toUserError(error, {
      label: `job on endpoint "${spec.endpointId}"`,
      operation: "create",
      names: context.settings.names,
    });
  }
}
