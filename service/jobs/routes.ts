import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { type EndpointHealth, type LimitedOperation, limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { notFound, ServiceError } from "../errors";
import type { Auth } from "../http/auth";
import { bodyText, keepBodyText } from "../http/body-text";
import { abortWhenGone, whenAnswered } from "../http/gone";
import type { RateLimits } from "../http/rate-limits";
import type { ServiceSettings } from "../settings";
import type { JobStore } from "../store/jobs";
import { parseInput } from "../validation";
import { type Job, type JobOperation, recordText } from "./job";
import type { Ledger } from "./ledger";
import { registerOpenaiRoute } from "./openai";
import { readPage } from "./requests-page";
import type { JobStream } from "./stream";
import { readMilliseconds, readSubmission } from "./submission";
import type { JobWaiters } from "./waiters";

/** What the user's routes need. */
export interface JobRouteDeps {
  auth: Pick<Auth, "checkJobs">;
  exists(endpointId: string): boolean;
  rateLimits: RateLimits;
  ledger: Ledger;
  jobs: Pick<JobStore, "page" | "output">;
  waiters: JobWaiters;
  stream: JobStream;
  streamForm: ServiceSettings["stream"];
  health(endpointId: string): EndpointHealth;
  clock: Clock;
}

const params = z.object({ endpointId: z.string(), jobId: z.string().default("") });
const pageQuery = z.object({
  limit: z.coerce.number().pipe(z.int().min(1).max(1000)).default(100),
  cursor: z.coerce.number().pipe(z.int().min(1)).default(Number.MAX_SAFE_INTEGER),
});

const readWait = ({ query }: FastifyRequest): number =>
  readMilliseconds(query, "wait", limits.runsyncWait) ?? limits.runsyncWait.default;

/** What every user's route does before its own work: key, endpoint, rate limit, in this order. */
const before = ({ auth, exists, rateLimits }: JobRouteDeps, operation?: LimitedOperation) => ({
  onRequest: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    auth.checkJobs(request);
    const { endpointId } = params.parse(request.params);
    if (!exists(endpointId)) throw notFound("endpoint", endpointId);
    if (operation) rateLimits.admit(endpointId, operation, reply);
  },
});

/** The user's side of the job API (interface: Job operations); registered under /v2. */
export function registerJobRoutes(app: FastifyInstance, deps: JobRouteDeps): void {
  const { ledger, waiters, stream, clock } = deps;
  const pathOf = (request: FastifyRequest) => params.parse(request.params);
  const recordOf = (job: Job): string => recordText(job, deps.jobs.output(job.seq), clock.now());
  const answer = (reply: FastifyReply, job: Job) => reply.type("application/json").send(recordOf(job));
  const find = (endpointId: string, jobId: string): Job => {
    const job = ledger.find(endpointId, jobId);
    if (!job) throw notFound("job", jobId);
    return job;
  };
  const submit = async (request: FastifyRequest, operation: JobOperation, body: string) => {
    const { endpointId } = pathOf(request);
    const job = await ledger.submit(readSubmission(endpointId, operation, body, clock.now()));
    if (!job) throw notFound("endpoint", endpointId);
    return job;
  };

  keepBodyText(app, ["application/json"]);

  app.post("/:endpointId/run", { ...before(deps, "run"), bodyLimit: limits.runPayload }, async (request) => {
    const { id, status } = await submit(request, "run", bodyText(request));
    return { id, status };
  });

  app.post(
    "/:endpointId/runsync",
    { ...before(deps, "runsync"), bodyLimit: limits.runsyncPayload },
    async (request, reply) => {
      const wait = readWait(request);
      const { endpointId, id } = await submit(request, "runsync", bodyText(request));
      await waiters.over(id, wait, abortWhenGone(reply));
      return answer(reply, find(endpointId, id));
    },
  );

  app.get("/:endpointId/status/:jobId", before(deps, "status"), async (request, reply) => {
    const { endpointId, jobId } = pathOf(request);
    const ttl = readMilliseconds(request.query, "ttl", limits.ttl);
    const job = find(endpointId, jobId);
    if (ttl !== undefined) await ledger.setTtl(endpointId, jobId, ttl);
    return answer(reply, job);
  });

  app.get("/:endpointId/status-sync/:jobId", before(deps, "status"), async (request, reply) => {
    const { endpointId, jobId } = pathOf(request);
    const wait = readWait(request);
    const { status } = find(endpointId, jobId);
    if (status === "IN_QUEUE" || status === "IN_PROGRESS") await waiters.over(jobId, wait, abortWhenGone(reply));
    return answer(reply, find(endpointId, jobId));
  });

  app.get("/:endpointId/stream/:jobId", before(deps, "stream"), async (request, reply) => {
    const { endpointId, jobId } = pathOf(request);
    const reading = await stream.readInTurn(() => ledger.find(endpointId, jobId), abortWhenGone(reply));
    if (!reading) throw notFound("job", jobId);
    whenAnswered(reply, reading.answered);
    const chunks = `[${reading.chunks.join(",")}]`;
    if (deps.streamForm === "array") return reply.type("application/json").send(chunks);
    // Clients stop at a final status, so it is told with the last chunk only.
    const status = reading.done ? reading.job.status : reading.job.status === "IN_QUEUE" ? "IN_QUEUE" : "IN_PROGRESS";
    return reply.type("application/json").send(`{"status":"${status}","stream":${chunks}}`);
  });

  app.post("/:endpointId/cancel/:jobId", before(deps, "cancel"), async (request) => {
    const { endpointId, jobId } = pathOf(request);
    const job = await ledger.cancel(endpointId, jobId);
    if (!job) throw notFound("job", jobId);
    return { id: job.id, status: job.status };
  });

  app.post("/:endpointId/retry/:jobId", before(deps), async (request) => {
    const { endpointId, jobId } = pathOf(request);
    const answer = await ledger.retry(endpointId, jobId);
    if (!answer) throw notFound("job", jobId);
    const { job, retried } = answer;
    if (retried) return { id: job.id, status: job.status };
    throw new ServiceError(
      "invalid",
      `job "${jobId}": is ${job.status}; only a FAILED or TIMED_OUT job can be retried`,
    );
  });

  app.post("/:endpointId/purge-queue", before(deps, "purge-queue"), async (request) => ({
    removed: await ledger.purge(pathOf(request).endpointId),
    status: "completed",
  }));

  app.get("/:endpointId/health", before(deps), async (request) => deps.health(pathOf(request).endpointId));

  app.get("/:endpointId/requests", before(deps, "requests"), async (request, reply) => {
    const { limit, cursor } = parseInput(pageQuery, request.query);
    const page = readPage(deps.jobs, pathOf(request).endpointId, cursor, limit, recordOf);
    const next = page.cursor === undefined ? "null" : `"${page.cursor}"`;
    return reply.type("application/json").send(`{"requests":[${page.records.join(",")}],"cursor":${next}}`);
  });

  registerOpenaiRoute(app, {
    ...{ submit, waiters, stream, ledger, clock, jobs: deps.jobs },
    options: before(deps, "openai"),
  });
}
