import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type EndpointHealth, type LimitedOperation, limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { disconnectSignal, onDisconnect, onResponseEnd } from "../client-disconnect";
import { notFound, ServiceError } from "../errors";
import type { JobQueue } from "../queue";
import { isFinal, type Job, recordText, retryRejection } from "../queue/job";
import type { StoredJob } from "../queue/row";
import type { SteadyClock } from "../steady-clock";
import { parseInput, queryInteger } from "../validation";
import type { Admission, EndpointRoute } from "./admission";
import { bodyText, keepBodyText } from "./request-body";
import { readMilliseconds, readSubmission } from "./submission";

/** Path parameters of the routes of a job. */
export interface JobRoute {
  Params: { endpointId: string; jobId: string };
}

const pageQuery = z.object({
  limit: queryInteger(1, 1000).default(100),
  cursor: queryInteger(1, Number.MAX_SAFE_INTEGER).default(Number.MAX_SAFE_INTEGER),
});

const readWait = (query: unknown): number =>
  readMilliseconds(query, "wait", limits.runsyncWait) ?? limits.runsyncWait.default;

/** User-Agents of clients that expect a stream as `{status, stream}` instead of the interface's array. */
const envelopeClients = /^(?:RunPod-JS-SDK|RunPod-Python-SDK|runpod-mcp-server)\//i;

/**
 * User-Agents of HTTP libraries, which the Python SDK sends from its synchronous client and from sessions of its caller. Unlike most users
 * of these libraries, it sends a Content-Type with requests without a body.
 */
const pythonLibraries = /^(?:python-requests\/|Python\/\S+ aiohttp\/)/;

function streamFormOf({ headers }: Pick<FastifyRequest, "headers">): "array" | "envelope" {
  const agent = headers["user-agent"] ?? "";
  const isPythonSdk = pythonLibraries.test(agent) && headers["content-type"] === "application/json";
  return isPythonSdk || envelopeClients.test(agent) ? "envelope" : "array";
}

/** The job API for users (interface: Job operations), registered under /v2. */
export function registerJobRoutes(
  app: FastifyInstance,
  {
    admit,
    queue: { jobs, list, pendingRequests, stream },
    clock,
    streamForm,
    visibilityDelay,
    health,
  }: {
    admit: Admission;
    queue: Pick<JobQueue, "jobs" | "list" | "pendingRequests" | "stream">;
    clock: SteadyClock;
    /** The form of streams; `auto` depends on the client. */
    streamForm: "auto" | "array" | "envelope";
    /** Time after its submission for which calls do not find a job, ms. */
    visibilityDelay: number;
    health(endpointId: string): EndpointHealth;
  },
): void {
  const findJob = (endpointId: string, jobId: string): StoredJob => {
    const stored = list.find(endpointId, jobId);
    if (!stored) throw notFound("job", jobId);
    return stored;
  };
  /** Route options of a call about one job, which does not find a job that is not visible yet. */
  const admitToJob = (operation?: LimitedOperation) => ({
    ...admit(operation),
    preHandler: async ({ params: { jobId } }: FastifyRequest<JobRoute>): Promise<void> => {
      const job = visibilityDelay > 0 ? list.get(jobId) : undefined;
      const age = job && clock.system.now() - job.createdAt;
      // A negative age means that the system time was set back; the job must not stay invisible until then.
      if (age !== undefined && age >= 0 && age < visibilityDelay) throw notFound("job", jobId);
    },
  });
  const sendText = (reply: FastifyReply, text: string): FastifyReply => reply.type("application/json").send(text);
  const sendRecord = (reply: FastifyReply, { job, output }: StoredJob): FastifyReply =>
    sendText(reply, recordText(job, output, clock.now()));

  /**
   * Sends the job's record when the job ends, or after `ms`; sends nothing if the client disconnects. Without a promise, because the client
   * would also wait for the other listeners of the job's end.
   */
  function sendWhenFinal(endpointId: string, jobId: string, ms: number, reply: FastifyReply): void {
    const sendEnd = (ended?: StoredJob): void => {
      try {
        const found = ended ?? list.find(endpointId, jobId);
        if (found) sendRecord(reply, found);
        else reply.send(notFound("job", jobId));
      } catch (error) {
        // The store cannot be read. Without this, the response would never end.
        reply.send(error);
      }
    };
    const stored = findJob(endpointId, jobId);
    if (isFinal(stored.job)) sendEnd(stored);
    else onDisconnect(reply, pendingRequests.wait(jobId, ms, sendEnd));
  }

  keepBodyText(app, ["application/json"]);

  app.post<EndpointRoute>(
    "/:endpointId/run",
    { ...admit("run"), bodyLimit: limits.runPayload },
    async (request, reply) => {
      const job = readSubmission(request.params.endpointId, "run", bodyText(request), clock);
      await jobs.submit(job);
      // The response acknowledges the submission, even if a worker already runs the job.
      return sendText(reply, `{"id":"${job.id}","status":"IN_QUEUE"}`);
    },
  );

  app.post<EndpointRoute>(
    "/:endpointId/runsync",
    { ...admit("runsync"), bodyLimit: limits.runsyncPayload },
    (request, reply) => {
      const { endpointId } = request.params;
      const wait = readWait(request.query);
      const job = readSubmission(endpointId, "runsync", bodyText(request), clock);
      jobs
        .submit(job)
        .then(() => sendWhenFinal(endpointId, job.id, wait, reply))
        .catch((error: unknown) => reply.send(error));
    },
  );

  app.get<JobRoute>("/:endpointId/status/:jobId", admitToJob("status"), async (request, reply) => {
    const { endpointId, jobId } = request.params;
    const ttl = readMilliseconds(request.query, "ttl", limits.ttl);
    const stored = findJob(endpointId, jobId);
    if (ttl !== undefined) await jobs.setTtl(endpointId, jobId, ttl);
    return sendRecord(reply, stored);
  });

  app.get<JobRoute>("/:endpointId/status-sync/:jobId", admitToJob("status"), (request, reply) => {
    const { endpointId, jobId } = request.params;
    sendWhenFinal(endpointId, jobId, readWait(request.query), reply);
  });

  app.get<JobRoute>("/:endpointId/stream/:jobId", admitToJob("stream"), async (request, reply) => {
    const { endpointId, jobId } = request.params;
    const reading = await stream.read(() => list.find(endpointId, jobId)?.job, disconnectSignal(reply));
    if (!reading) throw notFound("job", jobId);
    onResponseEnd(reply, reading.acknowledge);
    const chunks = `[${reading.chunks.join(",")}]`;
    const form = streamForm === "auto" ? streamFormOf(request) : streamForm;
    if (form === "array") return sendText(reply, chunks);
    // Clients stop reading at a final status, so only the last chunk has one.
    const status = reading.done ? reading.job.status : reading.job.status === "IN_QUEUE" ? "IN_QUEUE" : "IN_PROGRESS";
    return sendText(reply, `{"status":"${status}","stream":${chunks}}`);
  });

  app.post<JobRoute>("/:endpointId/cancel/:jobId", admitToJob("cancel"), async (request) => {
    const { endpointId, jobId } = request.params;
    const job = await jobs.cancel(endpointId, jobId);
    if (!job) throw notFound("job", jobId);
    return idAndStatus(job);
  });

  app.post<JobRoute>("/:endpointId/retry/:jobId", admitToJob(), async (request) => {
    const { endpointId, jobId } = request.params;
    const stored = await jobs.retry(endpointId, jobId);
    if (!stored) throw notFound("job", jobId);
    const { job, retried } = stored;
    if (retried) return idAndStatus(job);
    throw new ServiceError("invalid", `job "${jobId}": ${retryRejection(job)}`);
  });

  app.post<EndpointRoute>("/:endpointId/purge-queue", admit("purge-queue"), async (request) => ({
    removed: await jobs.purge(request.params.endpointId),
    status: "completed",
  }));

  app.get<EndpointRoute>("/:endpointId/health", admit(), async (request) => health(request.params.endpointId));

  app.get<EndpointRoute>("/:endpointId/requests", admit("requests"), async (request, reply) => {
    const { limit, cursor } = parseInput(pageQuery, request.query);
    const { jobs: results, before } = list.results(request.params.endpointId, cursor, limit);
    const records = results.map(({ job, output }) => recordText(job, output, clock.now()));
    const next = before === undefined ? "null" : `"${before}"`;
    return sendText(reply, `{"requests":[${records.join(",")}],"cursor":${next}}`);
  });
}

const idAndStatus = ({ id, status }: Job) => ({ id, status });
