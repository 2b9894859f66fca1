import { timingSafeEqual } from "node:crypto";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { notFound, ServiceError } from "../errors";
import type { JobOperation } from "../jobs/job";
import type { Jobs } from "../jobs/jobs";
import type { JobStream } from "../jobs/stream";
import { readMembers } from "../validation";
import type { Dispatcher } from "../workers/dispatcher";
import type { WorkerPresence } from "../workers/presence";
import { jobText, readResult, rejectedResult, resultLimit } from "../workers/results";
import { disconnectSignal, onAbort } from "./client-disconnect";
import { bodyText, keepBodyText } from "./request-body";

const takeQuery = z.object({
  job_in_progress: z.enum(["0", "1"]).optional().catch(undefined),
  batch_size: z.coerce.number().int().min(1).max(1000).catch(1).default(1),
});
const pingQuery = z.object({
  job_id: z.string().optional(),
  status: z.string().optional(),
  reason: z.string().optional(),
});
interface OfWorker {
  Params: { endpointId: string; workerId: string; jobId: string };
}

const options = { config: { audience: "worker" }, bodyLimit: resultLimit } as const;

/** The worker channel of the job API, in the protocol of the public Python SDK; registered under /v2. */
export function registerChannelRoutes(
  app: FastifyInstance,
  {
    dispatcher,
    presence,
    jobs,
    stream,
    token,
    operationOf,
  }: {
    dispatcher: Dispatcher;
    presence: WorkerPresence;
    jobs: Pick<Jobs, "progress">;
    stream: Pick<JobStream, "append">;
    /** Returns the token of the endpoint's workers; undefined if the endpoint does not exist. */
    token(endpointId: string): string | undefined;
    /** Returns the operation that submitted a job. */
    operationOf(endpointId: string, jobId: string): JobOperation | undefined;
  },
): void {
  // The body is JSON text regardless of the content type; the SDK declares it as a form.
  keepBodyText(app, ["application/json", "application/x-www-form-urlencoded"], resultLimit);
  app.addHook<OfWorker>("onRequest", async (request) => checkToken(request, token));
  app.setErrorHandler<FastifyError | ServiceError, OfWorker>(async (error, request) => {
    await failRefused(request, error);
    throw error;
  });
  const workerOf = ({ params: { endpointId, workerId, jobId } }: FastifyRequest<OfWorker>) => ({
    worker: presence.identify(endpointId, workerId),
    jobId,
  });

  /** Fails a job whose result is invalid, because the worker would return the same result again. */
  async function failRefused(request: FastifyRequest<OfWorker>, error: FastifyError | ServiceError): Promise<void> {
    const { url = "" } = request.routeOptions;
    if (!/job-(done|stream)/.test(url) || !isFaultOfResult(error)) return;
    const { worker, jobId } = workerOf(request);
    await dispatcher.finish(worker, jobId, rejectedResult(error.message), false);
  }

  async function take(request: FastifyRequest<OfWorker>, reply: FastifyReply, batch: boolean): Promise<unknown> {
    const { worker } = workerOf(request);
    const query = takeQuery.parse(request.query);
    const busy = query.job_in_progress === undefined ? undefined : query.job_in_progress === "1";
    const gone = disconnectSignal(reply);
    const taken = await dispatcher.takeJobs(worker, batch ? query.batch_size : 1, busy, gone);
    if (taken.length === 0) return reply.code(204).send();
    onAbort(gone, () => dispatcher.requeueUndelivered(worker, taken));
    const text = batch ? `[${taken.map(jobText).join(",")}]` : taken.map(jobText).join("");
    return reply.type("application/json").send(text);
  }
  app.get<OfWorker>("/:endpointId/job-take/:workerId", options, (request, reply) => take(request, reply, false));
  app.get<OfWorker>("/:endpointId/job-take-batch/:workerId", options, (request, reply) => take(request, reply, true));

  app.get<OfWorker>("/:endpointId/job-stop/:workerId", options, async (request, reply) => {
    const { worker } = workerOf(request);
    const jobsToStop = await dispatcher.pollStops(worker, disconnectSignal(reply));
    return jobsToStop.length > 0 ? { jobsToStop } : reply.code(204).send();
  });

  app.post<OfWorker>("/:endpointId/job-done/:workerId/:jobId", options, async (request) => {
    const { worker, jobId } = workerOf(request);
    const members = readMembers(bodyText(request) || "{}");
    const { status, outcome, refresh } = readResult(members, operationOf(worker.endpointId, jobId));
    if (status === "IN_PROGRESS") await jobs.progress(jobId, worker.id, members.get("output") ?? "null");
    else await dispatcher.finish(worker, jobId, outcome, refresh);
    return { status: "ok" };
  });

  app.post<OfWorker>("/:endpointId/job-stream/:workerId/:jobId", options, async (request) => {
    const { worker, jobId } = workerOf(request);
    const members = readMembers(bodyText(request) || "{}");
    await stream.append(jobId, worker.id, { output: members.get("output"), metrics: members.get("metrics") });
    return { status: "ok" };
  });

  app.get<OfWorker>("/:endpointId/ping/:workerId", options, async (request) => {
    const { worker } = workerOf(request);
    const { job_id: ids, status, reason } = pingQuery.parse(request.query);
    presence.ping(worker, ids ? ids.split(",") : [], status === "unhealthy" ? (reason ?? "no reason") : undefined);
    return { status: "ok" };
  });
}

const isFaultOfResult = (error: FastifyError | ServiceError): boolean =>
  error instanceof ServiceError ? error.code === "invalid" : error.code === "FST_ERR_CTP_BODY_TOO_LARGE";

/** Checks the token, which workers send as `<token>` or `Bearer <token>`. */
function checkToken(request: FastifyRequest<OfWorker>, token: (endpointId: string) => string | undefined): void {
  const { endpointId } = request.params;
  const expected = token(endpointId);
  if (expected === undefined) throw notFound("endpoint", endpointId);
  const given = Buffer.from(request.headers.authorization?.trim().replace(/^Bearer +/i, "") ?? "");
  const required = Buffer.from(expected);
  if (given.length !== required.length || !timingSafeEqual(given, required)) {
    throw new ServiceError("unauthorized", "unauthorized: the worker token is missing or wrong");
  }
}
