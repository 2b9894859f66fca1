import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { parseMembers } from "../json-members";
import type { JobDelivery, JobOperation, JobOutcome } from "../queue/job";
import { parseInput } from "../validation";

/** Maximum size of a result, bytes: the largest output (interface: Limits) and the JSON around it. */
export const resultLimit = limits.runsyncPayload + 1024 * 1024;

/** The JSON text of a job for its worker. */
export const jobText = ({ job, input, s3Config }: JobDelivery): string =>
  `{"id":"${job.id}"${input === undefined ? "" : `,"input":${input}`}${s3Config === undefined ? "" : `,"s3Config":${s3Config}`}}`;

const resultShape = z.object({ status: z.string().optional(), stopPod: z.boolean().optional() });

/** Report of a worker whose start hook failed, or was cancelled by the worker's end, as the error of a job that it has not run. */
const startReport = z.object({
  event: z.enum(["prestart_failed", "prestart_cancelled"]),
  error_type: z.string(),
  error_message: z.string(),
});
type StartReport = z.output<typeof startReport>;

/** A worker's message about a job: its result, or a progress update if the status is IN_PROGRESS. */
interface WorkerResult extends JobOutcome {
  status: string | undefined;
  /** The worker's report that it has not run the job. */
  startReport: StartReport | undefined;
  /** True if the worker requests its replacement. */
  refresh: boolean;
}

/** Reads a result from the texts of its members; throws a ServiceError `invalid` if it is invalid. */
export function readResult(members: ReadonlyMap<string, string>, operation: JobOperation | undefined): WorkerResult {
  const { status, stopPod = false } =
    members.has("status") || members.has("stopPod")
      ? parseInput(resultShape, parseMembers(members, ["status", "stopPod"]))
      : {};
  const output = members.get("output");
  const error = errorOf(members.get("error"));
  const limited = limitOutput(output, operation);
  return { status, ...limited, error: error ?? limited.error, refresh: stopPod, startReport: startReportIn(error) };
}

function startReportIn(error = ""): StartReport | undefined {
  if (!error.startsWith('{"event":')) return undefined;
  try {
    return startReport.parse(JSON.parse(error));
  } catch {
    return undefined;
  }
}

/** The outcome of a job with an invalid result. The job is not retried, because its worker would return the same result. */
export const rejectedResult = (reason: string): JobOutcome => ({
  error: `the worker's result was rejected: ${reason}`,
  output: undefined,
});

/** The outcome of a job whose output cannot be represented as JSON. */
export const unencodableOutput = (reason: string): JobOutcome => ({
  error: `the handler's output is not a JSON value: ${reason}`,
  output: undefined,
});

const outputLimit = (operation: JobOperation | undefined): { limit: number; path: string } =>
  operation === "run"
    ? { limit: limits.runPayload, path: "/run" }
    : { limit: limits.runsyncPayload, path: operation === "openai" ? "/openai" : "/runsync" };

/** The reason why a result above `resultLimit` is rejected, with the limit of the job's output. */
export function oversize(operation: JobOperation | undefined): string {
  const { limit, path } = outputLimit(operation);
  return `it has more than ${resultLimit} bytes, and the limit of an output for ${path} is ${limit}; store it elsewhere and return its location`;
}

/** Replaces an output that is too large by an error. The limit is the payload limit of the submitting operation (interface: Limits). */
function limitOutput(output: string | undefined, operation: JobOperation | undefined): JobOutcome {
  const { limit, path } = outputLimit(operation);
  // A UTF-16 code unit has at most three bytes in UTF-8.
  if (output === undefined || output.length * 3 <= limit) return { output };
  const bytes = Buffer.byteLength(output);
  if (bytes <= limit) return { output };
  const error = `the output has ${bytes} bytes, more than the limit of ${limit} for ${path}; store it elsewhere and return its location`;
  return { error, output: undefined };
}

/** A worker's error from its JSON text: a string unchanged, any other value as JSON; undefined for none. */
function errorOf(json: string | undefined): string | undefined {
  if (json === undefined || json === "null" || json === '""') return undefined;
  return json.startsWith('"') ? z.string().parse(JSON.parse(json)) : json;
}
