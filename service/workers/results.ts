import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { JobOperation, TakenJob } from "../jobs/job";
import type { JobOutcome } from "../jobs/jobs";
import { parseInput, parseMembers } from "../validation";

/** Maximum bytes of a result: the largest output (interface: Limits), with room for the JSON around it. */
export const resultLimit = limits.runsyncPayload + 1024 * 1024;

/** A job as its worker gets it, as JSON text. */
export const jobText = ({ job, input, s3Config }: TakenJob): string =>
  `{"id":"${job.id}","input":${input}${s3Config === undefined ? "" : `,"s3Config":${s3Config}`}}`;

const result = z.object({ status: z.string().optional(), stopPod: z.boolean().optional() });

/** A worker's message about a job: its end, or with status IN_PROGRESS an update. */
interface WorkerResult {
  status: string | undefined;
  outcome: JobOutcome;
  /** True if the worker wants to be replaced. */
  refresh: boolean;
}

/** Reads a result from the texts of its members; throws a ServiceError `invalid` for one that cannot be right. */
export function readResult(members: ReadonlyMap<string, string>, operation: JobOperation | undefined): WorkerResult {
  const { status, stopPod = false } =
    members.has("status") || members.has("stopPod")
      ? parseInput(result, parseMembers(members, ["status", "stopPod"]))
      : {};
  const output = members.get("output");
  const error = errorOf(members.get("error"));
  const outcome = error === undefined ? withinLimit(output, operation) : { error, output };
  return { status, outcome, refresh: stopPod };
}

/** The end of a job whose result cannot be read: its worker would make the same one again. */
export const refusedResult = (why: string): JobOutcome => ({
  error: `the worker's result was refused: ${why}`,
  output: undefined,
});

/** An output may be as large as the payload of the operation that submitted the job (interface: Limits). */
function withinLimit(output: string | undefined, operation: JobOperation | undefined): JobOutcome {
  const limit = operation === "run" ? limits.runPayload : limits.runsyncPayload;
  // A character has three bytes at most.
  if (output === undefined || output.length * 3 <= limit) return { output };
  const bytes = Buffer.byteLength(output);
  if (bytes <= limit) return { output };
  const asked = operation === "run" ? "/run" : "/runsync";
  const error = `the output has ${bytes} bytes, more than the ${limit} that a result of ${asked} may have: store it elsewhere and return where`;
  return { error, output: undefined };
}

/** A worker's error, given as JSON: a string as it is, any other value as JSON; undefined for none. */
function errorOf(json: string | undefined): string | undefined {
  if (json === undefined || json === "null" || json === '""') return undefined;
  return json.startsWith('"') ? z.string().parse(JSON.parse(json)) : json;
}
