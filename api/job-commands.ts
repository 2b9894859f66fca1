import { z } from "zod";
import { pathSegment } from "./address";
import { type Clock, elapsedTime, systemClock } from "./clock";
import { type CommandOutput, tableText } from "./command-output";
import { findEndpoint, type NamedEndpoint } from "./endpoint-names";
import { JobFailed, maxOutage, streamUntilFinal, waitUntilFinal } from "./job-waits";
import { elementTexts, memberTexts } from "./json-text";
import { parseJson, parseResponse } from "./response";
import { endpointHealth, isFinal, type JobRecord, type JobStatus, jobRecord, jobStatus, jobVisibility } from "./shapes";

export { type CommandOutput, rejectEmptyValues, tableText, untilInterrupted, watchOutput } from "./command-output";
export { findEndpoint, type NamedEndpoint } from "./endpoint-names";

/** The response to a request that reached the job API. */
export interface JobResponse {
  status: number;
  /** With status 200, the body as the service sent it; otherwise the service's message. */
  text: string;
}

/** The service of a command about jobs. Its functions reject with a message for users. */
export interface JobService {
  endpoints(): Promise<readonly NamedEndpoint[]>;
  /**
   * Sends a request with JSON text to an endpoint's job API; `path` follows its root. Waits while a rate limit is exceeded, and rejects if
   * the service fails, rejects the key or does not respond within `timeout` ms. The error, or its cause, is `retryable` if the request may
   * succeed later.
   */
  send(method: "GET" | "POST", endpointId: string, path: string, body?: string, timeout?: number): Promise<JobResponse>;
  /** Aborts the requests and waits of the command. */
  signal?: AbortSignal | undefined;
  /** Default: the system clock. */
  clock?: Clock | undefined;
}

/** Options of `run`. */
export interface RunFlags {
  /** True to wait for the result. */
  sync: boolean;
  /** True to print the chunks of the stream as they arrive. */
  stream: boolean;
}

/** Options of `jobs`. */
export interface JobsFlags {
  /** Only jobs in this state. */
  state?: JobStatus;
  /** Maximum number of jobs to print. */
  limit: number;
}

/** Values of the option `--state` of `jobs`. */
export const jobStates: readonly JobStatus[] = jobStatus.options;

/** The commands for one job, with their operations of the job API. */
export const commandsOfJob = [
  { name: "job", operation: "status", description: "print the record of a job as JSON" },
  { name: "cancel", operation: "cancel", description: "cancel a job" },
  { name: "retry", operation: "retry", description: "requeue a failed job" },
] as const;

/** Default of the option `--limit` of `jobs`. */
export const defaultJobs = 20;

/** Returns whether a text is a JSON object, as an input of a job must be. */
export function isObjectJson(text: string): boolean {
  const value = parseJson(text);
  return value instanceof Object && !Array.isArray(value);
}

/** The body of a successful response; throws an Error with the service's message for any other. */
function bodyOf({ status, text }: JobResponse): string {
  if (status === 200) return text;
  throw new Error(text);
}

/** Parses a response by its shape; throws an ApiError that names an invalid field. */
const parseBody = <Shape extends z.ZodType>(text: string, shape: Shape): z.output<Shape> =>
  parseResponse(parseJson(text), shape, { method: "GET", url: "" }, { ambiguous: false });

/** The outputs in a response of /stream, a list or `{status, stream}`, as unchanged JSON texts. */
function chunksOf(response: string): string[] {
  const list = memberTexts(response)?.get("stream") ?? response;
  return (elementTexts(list) ?? []).map((chunk) => memberTexts(chunk)?.get("output") ?? "null");
}

/** Time of a wait before the endpoint's health is read, interval between reads, and limit of a read (ms). */
const firstHealthRead = 5000;
const healthInterval = 30_000;
const healthTimeout = 3000;

/**
 * Submits a job; `input` is JSON text. Prints the response of the job API, or with `sync` the record of the finished job, or with `stream`
 * each chunk as a line of JSON, or the output if the handler does not stream. While it waits, prints on stderr why the job is in the
 * queue, that the service does not respond, and that a streamed job was requeued. Throws an Error if the job does not complete or the
 * signal aborts.
 */
export async function runJob(
  service: JobService,
  endpoint: string,
  input: string,
  { sync, stream }: RunFlags,
  output: CommandOutput,
): Promise<void> {
  const { signal, clock = systemClock } = service;
  const { id: endpointId } = findEndpoint(endpoint, await service.endpoints());
  const submission = bodyOf(await service.send("POST", endpointId, "run", `{"input":${input}}`));
  if (!sync && !stream) return output.out(submission);
  const { id } = parseBody(submission, jobRecord);
  let record = submission;
  let nextHealthRead = elapsedTime(clock) + firstHealthRead;
  let printedReason: string | undefined;
  let hasChunks = false;
  let knownRetries: unknown = 0;
  const readJob = async (): Promise<JobRecord> => {
    record = await readNewJob(service, endpointId, `status/${id}`);
    const job = parseBody(record, jobRecord);
    // Only the local service reports the requeues of a job.
    const { retries = 0 } = job;
    if (hasChunks && retries !== knownRetries) output.err(`job ${id} was requeued; chunks may be repeated`);
    knownRetries = retries;
    if (job.status !== "IN_QUEUE" || elapsedTime(clock) < nextHealthRead) return job;
    nextHealthRead = elapsedTime(clock) + healthInterval;
    const reason = await readWaitReason(service, endpointId);
    if (reason !== undefined && reason !== printedReason) output.err(`job ${id} waits: ${reason}`);
    printedReason = reason;
    return job;
  };
  const onOutage = () =>
    output.err(`the service does not respond; retrying to read job ${id} for ${maxOutage / 1000} s`);
  const readChunks = async () => chunksOf(await readNewJob(service, endpointId, `stream/${id}`));
  try {
    if (!stream) {
      const { status } = await waitUntilFinal(readJob, clock, { signal, onOutage });
      output.out(record);
      if (status !== "COMPLETED") throw new JobFailed(id, status, "");
      return;
    }
    for await (const chunk of streamUntilFinal(readChunks, readJob, clock, { signal, onOutage })) {
      hasChunks = true;
      output.out(chunk);
    }
    const jobOutput = memberTexts(record)?.get("output");
    if (!hasChunks && jobOutput !== undefined) output.out(jobOutput);
  } catch (error) {
    if (error instanceof JobFailed) throw error;
    if (signal?.aborted)
      throw new Error(`job ${id} continues; "job ${id}" prints its record, and "cancel ${id}" cancels it`);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the wait for job ${id} failed, and "job ${id}" prints its record: ${reason}`, { cause: error });
  }
}

/** Reads the reason why an endpoint's jobs wait, in one line. Only the local service reports it, in an additional field. */
async function readWaitReason(service: JobService, endpointId: string): Promise<string | undefined> {
  // The wait must not depend on a reason.
  const { text } = await service
    .send("GET", endpointId, "health", undefined, healthTimeout)
    .catch(() => ({ text: "" }));
  const message = endpointHealth.safeParse(parseJson(text)).data?.["message"];
  return typeof message === "string" ? message.split("\n", 1).join("") : undefined;
}

/** Reads data of a job that was just submitted, which the service may not find yet. */
async function readNewJob(service: JobService, endpointId: string, path: string): Promise<string> {
  let response = await service.send("GET", endpointId, path);
  for (const wait of jobVisibility.waits) {
    if (response.status !== 404) break;
    await (service.clock ?? systemClock).sleep(wait, service.signal);
    response = await service.send("GET", endpointId, path);
  }
  return bodyOf(response);
}

/** Maximum number of jobs per request. */
const maxPageLength = 1000;

/** A page of /requests. Only the local service is known to have this form. */
const jobsPage = z.object({ requests: z.array(jobRecord), cursor: z.string().nullish() });

/** Yields the pages of an endpoint's jobs, newest first; undefined if the service does not list jobs. */
async function* jobPages(
  service: JobService,
  endpointId: string,
  pageLength: number,
): AsyncGenerator<JobRecord[] | undefined> {
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const position: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { status, text } = await service.send("GET", endpointId, `requests?limit=${pageLength}${position}`);
    const page = status === 200 ? jobsPage.safeParse(parseJson(text)) : undefined;
    yield page?.data?.requests;
    cursor = page?.data?.cursor ?? undefined;
  }
}

/** The time in a UUID of version 7, as in the ids of the local service; empty for any other id. */
function submissionTime(id: string): string {
  const [, high, low] = /^(?:sync-)?([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id) ?? [];
  return high === undefined ? "" : new Date(Number.parseInt(`${high}${low}`, 16)).toISOString();
}

/** Errors of the public Python SDK's workers: JSON text with the exception and its traceback. */
const sdkError = z.looseObject({ error_message: z.string() });

/** Maximum length of an error in a table. */
const maxErrorLength = 120;

/** The first line of a job's error, without the traceback of an SDK. */
function errorLine(error: unknown): string {
  if (typeof error !== "string") return "";
  const line = sdkError.safeParse(parseJson(error)).data?.error_message ?? error;
  const [first = ""] = line.split("\n", 1);
  return first.length > maxErrorLength ? `${first.slice(0, maxErrorLength)}…` : first;
}

/** Prints an endpoint's jobs, newest first, as a table; or their counts, if the service does not list jobs. */
export async function listJobs(
  service: JobService,
  endpoint: string,
  { state, limit }: JobsFlags,
  output: CommandOutput,
): Promise<void> {
  const { id } = findEndpoint(endpoint, await service.endpoints());
  const pageLength = state === undefined ? Math.min(limit, maxPageLength) : maxPageLength;
  const matchingJobs: JobRecord[] = [];
  for await (const page of jobPages(service, id, pageLength)) {
    if (page === undefined) return printCounts(service, id, output);
    matchingJobs.push(...page.filter((job) => state === undefined || job.status === state));
    if (matchingJobs.length >= limit) break;
  }
  if (matchingJobs.length === 0)
    return output.err(state === undefined ? "The endpoint has no jobs." : `The endpoint has no job in state ${state}.`);
  const milliseconds = (ms: number | undefined): string => (ms === undefined ? "" : `${ms} ms`);
  const rows = matchingJobs
    .slice(0, limit)
    .map(({ id, status, delayTime, executionTime, error }) => [
      id,
      status,
      submissionTime(id),
      milliseconds(delayTime),
      milliseconds(executionTime),
      errorLine(error),
    ]);
  output.out(tableText(["JOB", "STATE", "SUBMITTED", "IN QUEUE", "EXECUTION", "ERROR"], rows));
}

/** Prints the numbers of an endpoint's jobs. */
async function printCounts(service: JobService, endpointId: string, output: CommandOutput): Promise<void> {
  const { jobs } = parseBody(bodyOf(await service.send("GET", endpointId, "health")), endpointHealth);
  output.err("The service does not list jobs. The counts come from /health; --state and --limit have no effect.");
  const counts = [jobs.inQueue, jobs.inProgress, jobs.completed, jobs.failed, jobs.retried];
  output.out(tableText(["IN QUEUE", "IN PROGRESS", "COMPLETED", "FAILED", "RETRIED"], [counts]));
}

/**
 * Prints the record of a job, or the response to its cancellation or retry. Searches the job in all endpoints. A part of an id is
 * sufficient if only one listed job has it.
 */
export async function callJob(
  service: JobService,
  operation: (typeof commandsOfJob)[number]["operation"],
  id: string,
  output: CommandOutput,
): Promise<void> {
  const endpoints = await service.endpoints();
  const segment = pathSegment(id, "job", { method: "GET", url: "" });
  for (const endpoint of endpoints) {
    const record = await service.send("GET", endpoint.id, `status/${segment}`);
    // A load balancer has no jobs and rejects the request.
    if (record.status === 200) return callFoundJob(service, operation, endpoint.id, record, output);
  }
  const job = await findJobByPart(service, endpoints, id);
  const record = await service.send("GET", job.endpointId, `status/${job.id}`);
  await callFoundJob(service, operation, job.endpointId, record, output);
}

/** Prints the record of a job, or the response to its cancellation or retry. */
async function callFoundJob(
  service: JobService,
  operation: (typeof commandsOfJob)[number]["operation"],
  endpointId: string,
  found: JobResponse,
  output: CommandOutput,
): Promise<void> {
  const text = bodyOf(found);
  if (operation === "status") return output.out(text);
  const { id, status } = parseBody(text, jobRecord);
  if (operation === "cancel" && isFinal(status)) output.err(`job ${id}: already ${status}`);
  output.out(bodyOf(await service.send("POST", endpointId, `${operation}/${id}`)));
}

/** Finds the only listed job whose id contains a text; throws an Error if there is none, or if there are several. */
async function findJobByPart(service: JobService, endpoints: readonly NamedEndpoint[], part: string) {
  const jobs: { id: string; endpointId: string }[] = [];
  for (const endpoint of endpoints)
    for await (const page of jobPages(service, endpoint.id, maxPageLength))
      jobs.push(...(page ?? []).flatMap(({ id }) => (id.includes(part) ? [{ id, endpointId: endpoint.id }] : [])));
  const [job, ...others] = jobs;
  if (job === undefined)
    throw new Error(`no endpoint has a job with the id "${part}"; the service removes a job some time after its end`);
  if (others.length === 0) return job;
  const examples = jobs.slice(0, 3).map(({ id }) => id);
  throw new Error(
    `${jobs.length} jobs have "${part}" in their ids, such as ${examples.join(", ")}; specify more of the id`,
  );
}
