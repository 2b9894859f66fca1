import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { type EndpointHealth, type LimitedOperation, limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { notFound, ServiceError } from "../errors";
import { type Job, type JobOperation, type LiveJob, type NewJob, recordText } from "../jobs/job";
import type { Jobs } from "../jobs/jobs";
import type { JobRecords } from "../jobs/records";
import type { StoredJob } from "../jobs/row";
import type { JobStream } from "../jobs/stream";
import type { Deferral } from "../jobs/unwritten";
import type { JobWaits } from "../jobs/waits";
import type { ServiceSettings } from "../settings";
import { parseInput } from "../validation";
import type { Auth } from "./auth";
import { disconnectSignal, onDisconnect, onResponseEnd } from "./client-disconnect";
import { registerOpenaiRoute } from "./openai";
import type { RateLimits } from "./rate-limits";
import { bodyText, keepBodyText } from "./request-body";
import { readPage } from "./requests-page";
import { readMilliseconds, readSubmission } from "./submission";

/** What the user's routes need. */
export interface JobRouteDeps {
  auth: Pick<Auth, "checkJobs">;
  exists(endpointId: string): boolean;
  rateLimits: RateLimits;
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
  const { auth, exists, rateLimits, jobs, records, waits, stream, clock } = deps;

  /** What every route does before its own work: key, endpoint, rate limit, in this order. */
  const before = (operation?: LimitedOperation) => ({
    onRequest: (request: FastifyRequest<OfEndpoint>, reply: FastifyReply, done: (error?: Error) => void): void => {
      auth.checkJobs(request);
      const { endpointId } = request.params;
      if (!exists(endpointId)) throw notFound("endpoint", endpointId);
      if (operation) rateLimits.admit(endpointId, operation, reply);
      done();
    },
  });
  const find = (endpointId: string, jobId: string): StoredJob => {
    const found = records.find(endpointId, jobId);
    if (!found) throw notFound("job", jobId);
    return found;
  };
  const sendRecord = (reply: FastifyReply, { job, output }: StoredJob): FastifyReply =>
    reply.type("application/json").send(recordText(job, output, clock.now()));
  const accept = async (job: NewJob, may?: Deferral): Promise<LiveJob> => {
    const accepted = await jobs.submit(job, may);
    if (!accepted) throw notFound("endpoint", job.endpointId);
    return accepted;
  };
  const submission = (endpointId: string, operation: JobOperation, body: string): NewJob =>
    readSubmission(endpointId, operation, body, clock.now());
  /** Sends the job's record once it is over, or as it is after `wait` ms. Returns what ends the wait. */
  function sendWhenOver(reply: FastifyReply, endpointId: string, jobId: string, wait: number): () => void {
    const leave = waits.wait(jobId, wait, (ended) => {
      const found = ended ?? records.find(endpointId, jobId);
      if (found) sendRecord(reply, found);
      else reply.send(notFound("job", jobId));
    });
    onDisconnect(reply, leave);
    return leave;
  }

  keepBodyText(app, ["application/json"]);

  app.post<OfEndpoint>(
    "/:endpointId/run",
    { ...before("run"), bodyLimit: limits.runPayload },
    async (request, reply) => {
      const { id } = await accept(submission(request.params.endpointId, "run", bodyText(request)));
      // Even when a worker was there already: the record says what is now, this says that it was accepted.
      return reply.type("application/json").send(`{"id":"${id}","status":"IN_QUEUE"}`);
    },
  );

  app.post<OfEndpoint>(
    "/:endpointId/runsync",
    { ...before("runsync"), bodyLimit: limits.runsyncPayload },
    async (request, reply) => {
      const wait = readWait(request.query);
      const job = submission(request.params.endpointId, "runsync", bodyText(request));
      // First of all: the job may be over in the transaction in which it came.
      const leave = sendWhenOver(reply, job.endpointId, job.id, wait);
      await accept(job, { wait: true }).catch((error: unknown) => {
        leave();
        throw error;
      });
      return reply;
    },
  );

  app.get<OfJob>("/:endpointId/status/:jobId", before("status"), async (request, reply) => {
    const { endpointId, jobId } = request.params;
    const ttl = readMilliseconds(request.query, "ttl", limits.ttl);
    const found = find(endpointId, jobId);
    if (ttl !== undefined) await jobs.setTtl(endpointId, jobId, ttl);
    return sendRecord(reply, found);
  });

  app.get<OfJob>("/:endpointId/status-sync/:jobId", before("status"), async (request, reply) => {
    const { endpointId, jobId } = request.params;
    const wait = readWait(request.query);
    const found = find(endpointId, jobId);
    const { status } = found.job;
    if (status !== "IN_QUEUE" && status !== "IN_PROGRESS") return sendRecord(reply, found);
    sendWhenOver(reply, endpointId, jobId, wait);
    return reply;
  });

  app.get<OfJob>("/:endpointId/stream/:jobId", before("stream"), async (request, reply) => {
    const { endpointId, jobId } = request.params;
    const reading = await stream.readInTurn(() => records.find(endpointId, jobId)?.job, disconnectSignal(reply));
    if (!reading) throw notFound("job", jobId);
    onResponseEnd(reply, reading.answered);
    const chunks = `[${reading.chunks.join(",")}]`;
    const form = deps.streamForm === "auto" ? streamFormOf(request.headers["user-agent"]) : deps.streamForm;
    if (form === "array") return reply.type("application/json").send(chunks);
    // Clients stop at a final status, so it is sent with the last chunk only.
    const status = reading.done ? reading.job.status : reading.job.status === "IN_QUEUE" ? "IN_QUEUE" : "IN_PROGRESS";
    return reply.type("application/json").send(`{"status":"${status}","stream":${chunks}}`);
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
    return reply.type("application/json").send(`{"requests":[${page.records.join(",")}],"cursor":${next}}`);
  });

  registerOpenaiRoute(app, { accept, submission, jobs, records, waits, stream, clock, options: before("openai") });
}

const idAndStatus = ({ id, status }: Job) => ({ id, status });
