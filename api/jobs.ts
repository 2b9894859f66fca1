import type { z } from "zod";
import { jobApiRoot, pathSegment, requestInfo } from "./address";
import type { Clock } from "./clock";
import { invalidArgument, toJson } from "./errors";
import { exactBodyOf } from "./exact-numbers";
import { type JobStreamOptions, type JobWaitOptions, streamUntilFinal, waitUntilFinal } from "./job-waits";
import type { CallOptions } from "./management";
import { type ApiResponse, parseResponse } from "./response";
import type { VisibilityRetries } from "./retry";
import {
  type EndpointHealth,
  endpointHealth,
  type JobRecord,
  type JobSubmission,
  jobRecord,
  jobVisibility,
  limits,
  purgeResponse,
  streamResponse,
} from "./shapes";
import type { Transport, TransportRequest } from "./transport";

/** Options of a call about one job. */
export interface JobCallOptions extends CallOptions {
  /**
   * Maximum time to repeat a call that finds no job, ms. Applies to jobs that this client submitted in the last 30 s, which the service may
   * not show yet. Default: about 30 s.
   */
  visibilityLimit?: number | undefined;
}

/** The job API of queue-based endpoints (interface: Job operations). Every failed request rejects with an ApiError. */
export interface JobClient {
  /** Root of an endpoint's job API. */
  url(endpointId: string): string;
  /** Queues a job and returns immediately. Not retried if the response is lost. */
  run(endpointId: string, submission: JobSubmission, options?: CallOptions): Promise<JobRecord>;
  /** Queues a job and waits up to `wait` ms (1000 to 300000, default 90000) for its end; the record may not be final. */
  runsync(
    endpointId: string,
    submission: JobSubmission,
    options?: CallOptions & { wait?: number | undefined },
  ): Promise<JobRecord>;
  /** Returns the job's record; rejects with category `missing` if the job is unknown or expired. */
  status(endpointId: string, jobId: string, options?: JobCallOptions): Promise<JobRecord>;
  /**
   * Polls the job's record until its state is final, at first every 250 ms, later every 2 s; resolves with the final record, also of a
   * failed job. Repeats polls with temporary errors (`retryable`) for 30 s. Rejects like `status`, or with the reason of its signal. The
   * job continues after a rejection.
   * @example const job = await jobs.waitForJob(endpointId, id, { signal: AbortSignal.timeout(600_000) });
   */
  waitForJob(endpointId: string, jobId: string, options?: JobWaitOptions): Promise<JobRecord>;
  /**
   * Iterates over the outputs of the job's chunks until the job is over and all are read. A number that JavaScript cannot represent is
   * text with its digits. The service splits a value above 1 MB into several chunks. It delivers each chunk once, so that two readers of
   * a job share its chunks. The chunks of a requeued job begin again. Throws a JobFailed with the reason after the outputs of a job that
   * did not complete; otherwise rejects like `waitForJob`. Leaving the loop does not cancel the job.
   * @example for await (const output of jobs.streamJob(endpointId, id)) console.log(output);
   */
  streamJob(endpointId: string, jobId: string, options?: JobStreamOptions): AsyncIterable<unknown>;
  cancel(endpointId: string, jobId: string, options?: JobCallOptions): Promise<JobRecord>;
  /** Requeues a FAILED or TIMED_OUT job under the same id. */
  retry(endpointId: string, jobId: string, options?: JobCallOptions): Promise<JobRecord>;
  /** Removes the queued jobs; returns the number of removed jobs. */
  purgeQueue(endpointId: string, options?: CallOptions): Promise<number>;
  health(endpointId: string, options?: CallOptions): Promise<EndpointHealth>;
}

type Operation = "run" | "runsync" | "status" | "stream" | "cancel" | "retry" | "purge-queue" | "health";
type Extras = Partial<TransportRequest> & { jobId?: string; query?: string };

/** Maximum time for which the service holds a /stream call without new chunks, ms. */
const streamHold = 10_000;

/** The request of an operation of the job API without its body; `path` follows the endpoint's root and begins with the operation. */
export function jobRequest(root: string, method: "GET" | "POST", path: string) {
  const [operation = ""] = path.split(/[/?]/);
  return {
    method,
    url: `${root}/${path}`,
    idempotent: method === "GET" || operation === "cancel",
    // The job API has rate limits per endpoint and operation, so that too many /run calls must not delay a /cancel.
    rateLimitScope: `${root}/${operation}`,
    serverWait: operation === "stream" ? streamHold : 0,
  };
}

/** The body of a response, with the exact numbers of a job's output. Its other numbers are times. */
function withExactOutput(response: ApiResponse): unknown {
  const { body } = response;
  const exactBody = exactBodyOf(response);
  const hasOutput = body instanceof Object && exactBody instanceof Object && "output" in exactBody;
  return hasOutput ? { ...body, output: exactBody.output } : body;
}

/** The access key of a submission, which no error may show. */
const secretsIn = ({ s3Config: { accessId, accessSecret } = {} }: JobSubmission): string[] =>
  [accessId, accessSecret].filter((value) => value !== undefined);

/** Retries of a call about a new job, for at most `limit` ms. */
function newJobRetries(limit = Number.POSITIVE_INFINITY): VisibilityRetries {
  let remaining = limit;
  const waits = jobVisibility.waits.flatMap((longest) => {
    const wait = Math.min(longest, remaining);
    remaining -= wait;
    return wait > 0 ? [wait] : [];
  });
  return { codes: ["not_found"], waits };
}

/** Creates the client of the job API. `serverlessUrl` is the host address, which may end with `/v2`, without a trailing slash. */
export function createJobClient(
  transport: Transport,
  { apiKey, serverlessUrl, clock }: { apiKey: string; serverlessUrl: string; clock: Clock },
): JobClient {
  const url = (endpointId: string): string => jobApiRoot(serverlessUrl, endpointId);

  /** Times of recent submissions by job, oldest first. */
  const submissionTimes = new Map<string, number>();
  const jobKey = (endpointId: string, jobId: string): string => `${endpointId}/${jobId}`;

  function isNew(endpointId: string, jobId: string): boolean {
    for (const [key, time] of submissionTimes) {
      if (clock.now() - time < jobVisibility.maxDelay) break;
      submissionTimes.delete(key);
    }
    return submissionTimes.has(jobKey(endpointId, jobId));
  }

  async function submit(
    operation: "run" | "runsync",
    endpointId: string,
    extras: Extras,
    options: CallOptions | undefined,
  ): Promise<JobRecord> {
    const record = await send(["POST", operation], endpointId, jobRecord, extras, options);
    if (!isNew(endpointId, record.id)) submissionTimes.set(jobKey(endpointId, record.id), clock.now());
    return record;
  }

  async function send<Shape extends z.ZodType>(
    [method, operation]: ["GET" | "POST", Operation],
    endpointId: string,
    shape: Shape,
    extras: Extras,
    options: JobCallOptions | undefined,
  ): Promise<z.output<Shape>> {
    const { jobId = "", query = "", ...rest } = extras;
    const hasJob = "jobId" in extras;
    const root = url(endpointId);
    const id = hasJob ? `/${pathSegment(jobId, "job", { method, url: `${root}/${operation}` })}` : "";
    const request: TransportRequest = {
      ...jobRequest(root, method, operation + id + query),
      visibilityRetries: hasJob && isNew(endpointId, jobId) ? newJobRetries(options?.visibilityLimit) : undefined,
      ...(method === "POST" ? { body: {} } : {}),
      ...rest,
    };
    if (Number.isNaN(options?.visibilityLimit))
      throw invalidArgument("visibilityLimit is NaN; must be a number of ms", requestInfo(request));
    const response = await transport.send(request, options);
    const facts = { ambiguous: !request.idempotent, status: response.status };
    const body = operation === "stream" ? exactBodyOf(response) : withExactOutput(response);
    return parseResponse(body, shape, requestInfo(request), facts);
  }

  /** Serializes a submission; throws if it is not JSON, or exceeds the service's limit, because the service would close the connection. */
  function serializeSubmission(endpointId: string, operation: "run" | "runsync", submission: JobSubmission): string {
    const info = { method: "POST", url: `${url(endpointId)}/${operation}` };
    const body = toJson(submission, "the job's payload", info);
    const size = Buffer.byteLength(body);
    const maxSize = operation === "run" ? limits.runPayload : limits.runsyncPayload;
    if (size <= maxSize) return body;
    throw invalidArgument(`the job's payload has ${size} bytes; /${operation} accepts at most ${maxSize}`, info);
  }

  const status = (endpointId: string, jobId: string, options?: JobCallOptions): Promise<JobRecord> =>
    send(["GET", "status"], endpointId, jobRecord, { jobId }, options);

  async function readOutputs(endpointId: string, jobId: string, options?: CallOptions): Promise<unknown[]> {
    const { stream } = await send(["GET", "stream"], endpointId, streamResponse, { jobId }, options);
    return stream.map(({ output }) => output);
  }

  return {
    url,
    async run(endpointId, submission, options) {
      const body = serializeSubmission(endpointId, "run", submission);
      return submit("run", endpointId, { body, secrets: secretsIn(submission) }, options);
    },
    async runsync(endpointId, submission, { wait, ...options } = {}) {
      const body = serializeSubmission(endpointId, "runsync", submission);
      const { min, max, default: defaultWait } = limits.runsyncWait;
      if (wait !== undefined && !(Number.isInteger(wait) && wait >= min && wait <= max)) {
        const info = { method: "POST", url: `${url(endpointId)}/runsync` };
        throw invalidArgument(`wait is ${wait}; must be a whole number of ms from ${min} to ${max}`, info);
      }
      const query = wait === undefined ? "" : `?wait=${wait}`;
      const extras = { body, query, serverWait: wait ?? defaultWait, secrets: secretsIn(submission) };
      return submit("runsync", endpointId, extras, options);
    },
    status,
    waitForJob: (endpointId, jobId, options) =>
      waitUntilFinal(() => status(endpointId, jobId, options), clock, options),
    streamJob: (endpointId, jobId, options = {}) =>
      streamUntilFinal(
        () => readOutputs(endpointId, jobId, options),
        () => status(endpointId, jobId, options),
        clock,
        { ...options, secrets: [apiKey, ...(options.secrets ?? [])] },
      ),
    cancel: (endpointId, jobId, options) => send(["POST", "cancel"], endpointId, jobRecord, { jobId }, options),
    retry: (endpointId, jobId, options) => send(["POST", "retry"], endpointId, jobRecord, { jobId }, options),
    purgeQueue: async (endpointId, options) =>
      (await send(["POST", "purge-queue"], endpointId, purgeResponse, {}, options)).removed,
    health: (endpointId, options) => send(["GET", "health"], endpointId, endpointHealth, {}, options),
  };
}
