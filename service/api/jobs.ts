import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { type EndpointHealth, type LimitedOperation, limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { notFound, ServiceError } from "../errors";
import { type Job, recordText } from "../jobs/job";
import type { Jobs } from "../jobs/jobs";
import type { JobRecords } from "../jobs/records";
import type { JobStream } from "../jobs/stream";
import type { JobWaits } from "../jobs/waits";
import type { ServiceSettings } from "../settings";
import { parseInput } from "../validation";
import { disconnectSignal, onResponseEnd } from "./client-disconnect";
import type { JobCalls } from "./job-calls";
import { registerOpenaiRoute } from "./openai";
import { bodyText, keepBodyText } from "./request-body";
import { readPage } from "./requests-page";
import { readMilliseconds } from "./submission";

/** What the user's routes need. */
export interface JobRouteDeps {
  calls: JobCalls;
  jobs: Jobs;
  records: JobRecords;
  waits: JobWaits;
  stream: JobStream;
  streamForm: ServiceSettings["stream"];
  health(endpointId: string): EndpointHealth;
  clock: Clock;
}

/** Path parameters of the routes, by fastify's generics. */
interface OfEndpoint {
  Params: { endpointId: string };
}
interface OfJob {
  Params: { endpointId: string; jobId: string };
}

const pageQuery = z.object({
  limit: z.coerce.number().pipe(z.int().min(1).max(1000)).default(100),
  cursor: z.coerce.number().pipe(z.int().min(1)).default(Number.MAX_SAFE_INTEGER),
});

const readWait = (query: unknown): number =>
  readMilliseconds(query, "wait", limits.runsyncWait) ?? limits.runsyncWait.default;

/** Clients that read a stream as `{status, stream}` and cannot read the interface's array, by their User-Agents. */
const envelopeReaders = /^(?:RunPod-JS-SDK|RunPod-Python-SDK|runpod-mcp-server)\//i;

/** The form of /stream that a client can read. */
const streamFormOf = (userAgent: string | undefined): "array" | "envelope" =>
  envelopeReaders.test(userAgent ?? "") ? "envelope" : "array";

/** The user's side of the job API (interface: Job operations); registered under /v2. */
export function registerJobRoutes(app: FastifyInstance, deps: JobRouteDeps): void {
  const { calls, jobs, records, stream, clock } = deps;
  const { find, textOf, sendWhenOver } = calls;

  const before = (operation?: LimitedOperation) => ({
    onRequest: (request: FastifyRequest<OfEndpoint>, reply: FastifyReply, done: (error?: Error) => void): void => {
      calls.admit(request.params.endpointId, operation, request, reply.raw);
      done();
    },
  });
  const sendText = (reply: FastifyReply, text: string): FastifyReply => reply.type("application/json").send(text);
  const senderOf = (reply: FastifyReply) => (record: string | ServiceError) =>
    void (typeof record === "string" ? sendText(reply, record) : reply.send(record));

  keepBodyText(app, ["application/json"]);

  app.post<OfEndpoint>(
    "/:endpointId/run",
    { ...before("run"), bodyLimit: limits.runPayload },
    async (request, reply) => {
      return sendText(reply, await calls.run(request.params.endpointId, bodyText(request)));
    },
  );

  app.post<OfEndpoint>(
    "/:endpointId/runsync",
    { ...before("runsync"), bodyLimit: limits.runsyncPayload },
    async (request, reply) => {
      const { endpointId } = request.params;
      calls.runsync(endpointId, bodyText(request), readWait(request.query), reply.raw, senderOf(reply));
      return reply;
    },
  );

  app.get<OfJob>("/:endpointId/status/:jobId", before("status"), async (request, reply) => {
    const { endpointId, jobId } = request.params;
    const ttl = readMilliseconds(request.query, "ttl", limits.ttl);
    const found = find(endpointId, jobId);
    if (ttl !== undefined) await jobs.setTtl(endpointId, jobId, ttl);
    return sendText(reply, textOf(found));
  });

  app.get<OfJob>("/:endpointId/status-sync/:jobId", before("status"), async (request, reply) => {
    const { endpointId, jobId } = request.params;
    const wait = readWait(request.query);
    const found = find(endpointId, jobId);
    const { status } = found.job;
    if (status !== "IN_QUEUE" && status !== "IN_PROGRESS") return sendText(reply, textOf(found));
    sendWhenOver(endpointId, jobId, wait, reply.raw, senderOf(reply));
    return reply;
  });

  app.get<OfJob>("/:endpointId/stream/:jobId", before("stream"), async (request, reply) => {
    const { endpointId, jobId } = request.params;
    const reading = await stream.readInTurn(() => records.find(endpointId, jobId)?.job, disconnectSignal(reply));
    if (!reading) throw notFound("job", jobId);
    onResponseEnd(reply, reading.answered);
    const chunks = `[${reading.chunks.join(",")}]`;
    const form = deps.streamForm === "auto" ? streamFormOf(request.headers["user-agent"]) : deps.streamForm;
    if (form === "array") return sendText(reply, chunks);
    // Clients stop at a final status, so it is sent with the last chunk only.
    const status = reading.done ? reading.job.status : reading.job.status === "IN_QUEUE" ? "IN_QUEUE" : "IN_PROGRESS";
    return sendText(reply, `{"status":"${status}","stream":${chunks}}`);
  });

  app.post<OfJob>("/:endpointId/cancel/:jobId", before("cancel"), async (request) => {
    const { endpointId, jobId } = request.params;
    const job = await jobs.cancel(endpointId, jobId);
    if (!job) throw notFound("job", jobId);
    return idAndStatus(job);
  });

  app.post<OfJob>("/:endpointId/retry/:jobId", before(), async (request) => {
    const { endpointId, jobId } = request.params;
    const found = await jobs.retry(endpointId, jobId);
    if (!found) throw notFound("job", jobId);
    const { job, retried } = found;
    if (retried) return idAndStatus(job);
    throw new ServiceError(
      "invalid",
      `job "${jobId}": is ${job.status}; only a FAILED or TIMED_OUT job can be retried`,
    );
  });

  app.post<OfEndpoint>("/:endpointId/purge-queue", before("purge-queue"), async (request) => ({
    removed: await jobs.purge(request.params.endpointId),
    status: "completed",
  }));

  app.get<OfEndpoint>("/:endpointId/health", before(), async (request) => deps.health(request.params.endpointId));

  app.get<OfEndpoint>("/:endpointId/requests", before("requests"), async (request, reply) => {
    const { limit, cursor } = parseInput(pageQuery, request.query);
    await jobs.writeDeferred();
    const recordOf = (job: Job, output: string | undefined): string => recordText(job, output, clock.now());
    const page = readPage(records, request.params.endpointId, cursor, limit, recordOf);
    const next = page.cursor === undefined ? "null" : `"${page.cursor}"`;
    return sendText(reply, `{"requests":[${page.records.join(",")}],"cursor":${next}}`);
  });

  registerOpenaiRoute(app, deps, before("openai"));
}

const idAndStatus = ({ id, status }: Job) => ({ id, status });
