import { systemClock } from "serverless-compute-api/clock";
import { isFinal, type JobRecord, type JobStatus, jobRecord, jobVisibility } from "serverless-compute-api/shapes";
import { z } from "zod";
import { localPaths } from "../api/local";
import { roots } from "../api/responses";
import { StartError } from "../errors";
import { elementTexts, memberTexts } from "../json-text";
import { readEndpointNames } from "../resources/endpoint-table";
import { connect, expectSuccess, type Send, type ServiceResponse } from "./connection";
import { findEndpoint } from "./data-folder";
import { type Output, tableText } from "./output";

/** Flags of `run`. */
export interface RunFlags {
  data: string;
  /** True to wait for the result. */
  sync: boolean;
  /** True to print the chunks of the stream as they arrive. */
  stream: boolean;
}

/** Flags of `jobs`. */
export interface JobsFlags {
  data: string;
  /** Only jobs in this state. */
  state?: JobStatus;
  /** Maximum number of jobs to print. */
  limit: number;
}

/** Response timeout, ms; longer than the service's routes wait for a job. */
const responseLimit = 100_000;

/** Interval at which a job without chunks is polled, ms. */
const pollInterval = 100;

/**
 * Submits a job; `input` is JSON text. Prints the response of the job API, or with `sync` the record of the finished job, or with `stream`
 * each chunk as a line of JSON, or the output if the handler does not stream. With `sync` or `stream`, throws a StartError if the job does
 * not complete.
 */
export async function runJob(
  endpoint: string,
  input: string,
  { data, sync, stream }: RunFlags,
  output: Output,
): Promise<void> {
  const { send } = connect(data, responseLimit);
  const { id: endpointId } = findEndpoint(endpoint, data);
  const path = `${roots.jobs}/${endpointId}`;
  const submission = expectSuccess(await send("POST", `${path}/run`, `{"input":${input}}`));
  if (!sync && !stream) return output.out(submission.text);
  const { id } = jobRecord.parse(submission.json);
  const readStatus = () => getRecord(send, `${path}/status/${id}`);
  const hasChunks = stream && (await printStream(`${path}/stream/${id}`, readStatus, send, output));
  let result: ServiceResponse;
  do result = await getRecord(send, `${path}/status-sync/${id}`);
  while (!isFinal(jobRecord.parse(result.json).status));
  const jobOutput = memberTexts(result.text)?.get("output");
  if (!stream) output.out(result.text);
  else if (!hasChunks && jobOutput !== undefined) output.out(jobOutput);
  const { status } = jobRecord.parse(result.json);
  if (status !== "COMPLETED") throw new StartError(`job ${id} ended ${status}`);
}

/** Reads a record of a job that was just submitted, which the service may not find yet. */
async function getRecord(send: Send, path: string): Promise<ServiceResponse> {
  let response = await send("GET", path);
  for (const wait of jobVisibility.waits) {
    if (response.status !== 404) break;
    await systemClock.sleep(wait);
    response = await send("GET", path);
  }
  return expectSuccess(response);
}

/** The outputs in a response of /stream, a list or `{status, stream}`, as unchanged JSON texts. */
function chunksOf(response: string): string[] {
  const list = memberTexts(response)?.get("stream") ?? response;
  return (elementTexts(list) ?? []).map((chunk) => memberTexts(chunk)?.get("output") ?? "null");
}

/** Prints the chunks of a job until the job has ended and all chunks are printed; returns whether it had chunks. */
async function printStream(
  path: string,
  status: () => Promise<ServiceResponse>,
  send: Send,
  output: Output,
): Promise<boolean> {
  for (let hasChunks = false; ; ) {
    // Read before the chunks, so that no chunks follow if the job is over.
    const isFinished = isFinal(jobRecord.parse((await status()).json).status);
    const chunks = chunksOf((await getRecord(send, path)).text);
    for (const chunk of chunks) output.out(chunk);
    hasChunks ||= chunks.length > 0;
    if (chunks.length > 0) continue;
    if (isFinished) return hasChunks;
    await systemClock.sleep(pollInterval);
  }
}

/** Maximum number of jobs per request. */
const maxPageLength = 1000;

const pageShape = z.object({ requests: z.array(jobRecord), cursor: z.string().nullable() });

/** Reads a page of jobs; waits while the endpoint's rate limit is exceeded. */
async function getPage(send: Send, path: string): Promise<z.output<typeof pageShape>> {
  for (;;) {
    const response = await send("GET", path);
    if (response.status !== 429) return pageShape.parse(expectSuccess(response).json);
    await systemClock.sleep(response.retryAfter * 1000);
  }
}

/** Prints an endpoint's jobs, newest first, as a table. */
export async function listJobs(endpoint: string, { data, state, limit }: JobsFlags, output: Output): Promise<void> {
  const { send } = connect(data, responseLimit);
  const { id: endpointId } = findEndpoint(endpoint, data);
  const pageLength = state === undefined ? Math.min(limit, maxPageLength) : maxPageLength;
  const matchingJobs: JobRecord[] = [];
  let cursor: string | null = "";
  while (cursor !== null && matchingJobs.length < limit) {
    const position: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const page = await getPage(send, `${roots.jobs}/${endpointId}/requests?limit=${pageLength}${position}`);
    matchingJobs.push(...page.requests.filter(({ status }) => state === undefined || status === state));
    cursor = page.cursor;
  }
  if (matchingJobs.length === 0)
    return output.err(state === undefined ? "The endpoint has no jobs." : `The endpoint has no job in state ${state}.`);
  const milliseconds = (ms: number | undefined): string => (ms === undefined ? "" : `${ms} ms`);
  const rows = matchingJobs
    .slice(0, limit)
    .map(({ id, status, delayTime, executionTime, error }) => [
      id,
      status,
      milliseconds(delayTime),
      milliseconds(executionTime),
      typeof error === "string" ? error.split("\n", 1).join("") : "",
    ]);
  output.out(tableText(["JOB", "STATE", "IN QUEUE", "EXECUTION", "ERROR"], rows));
}

/** Prints the record of a job, or the response to its cancellation or retry. */
export async function callJob(
  operation: "status" | "cancel" | "retry",
  id: string,
  data: string,
  output: Output,
): Promise<void> {
  const { send } = connect(data, responseLimit);
  for (const endpoint of readEndpointNames(data) ?? []) {
    const method = operation === "status" ? "GET" : "POST";
    const response = await send(method, `${roots.jobs}/${endpoint.id}/${operation}/${encodeURIComponent(id)}`);
    // A load balancer has no jobs and returns 501.
    if (response.status !== 404 && response.status !== 501) return output.out(expectSuccess(response).text);
  }
  throw new StartError(`no endpoint has a job with the id "${id}"; "jobs <endpoint>" lists the jobs of an endpoint`);
}

/**
 * Replaces the injected faults of an endpoint and prints the remaining faults. `faults` is JSON text; without it, only prints them.
 */
export async function callFaults(
  endpoint: string,
  faults: string | undefined,
  data: string,
  output: Output,
): Promise<void> {
  const { send } = connect(data);
  const path = localPaths.faults(findEndpoint(endpoint, data).id);
  const response = await (faults === undefined ? send("GET", path) : send("PUT", path, faults));
  output.out(expectSuccess(response).text);
}
