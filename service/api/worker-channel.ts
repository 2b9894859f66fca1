import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { disconnectSignal, onAbort } from "../client-disconnect";
import { ServiceError } from "../errors";
import { readMembers } from "../json-members";
import { type JobOperation, type JobWorker, limitError } from "../queue/job";
import type { Jobs } from "../queue/queue";
import type { JobStream } from "../queue/stream";
import { parseInput } from "../validation";
import type { Dispatcher } from "../workers/dispatcher";
import { jobText, oversize, readResult, rejectedResult, resultLimit } from "../workers/results";
import type { Worker } from "../workers/worker";
import { isSameKey, keysIn } from "./auth";
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
interface WorkerRoute {
  Params: { endpointId: string; workerId: string; jobId: string };
}

const options = { bodyLimit: resultLimit };

/** The worker channel of the job API, in the protocol of the public Python SDK; registered under /v2. */
export function registerChannelRoutes(
  app: FastifyInstance,
  {
    dispatcher,
    identify,
    jobs,
    stream,
    token,
    operationOf,
  }: {
    dispatcher: Dispatcher;
    /** Returns the worker that sent a request. */
    identify(endpointId: string, workerId: string): Worker;
    jobs: Pick<Jobs, "progress">;
    stream: Pick<JobStream, "append">;
    /** Returns the token of the endpoint's workers; undefined if the endpoint does not exist. */
    token(endpointId: string): string | undefined;
    /** Returns the operation that submitted a job; undefined if the worker does not run it. */
    operationOf(worker: JobWorker, jobId: string): JobOperation | undefined;
  },
): void {
  // The body is JSON text regardless of the content type; the SDK declares it as a form.
  keepBodyText(app, ["application/json", "application/x-www-form-urlencoded"], resultLimit);
  app.addHook<WorkerRoute>("onRequest", async (request) => checkToken(request, token));
  app.setErrorHandler<FastifyError | ServiceError, WorkerRoute>(async (error, request) => {
    await failRejectedResult(request, error);
    throw error;
  });
  const workerOf = ({ params: { endpointId, workerId, jobId } }: FastifyRequest<WorkerRoute>) => ({
    worker: identify(endpointId, workerId),
    jobId,
  });

  /** Fails a job whose result is invalid, because the worker would return the same result again. */
  async function failRejectedResult(
    request: FastifyRequest<WorkerRoute>,
    error: FastifyError | ServiceError,
  ): Promise<void> {
    const { url = "" } = request.routeOptions;
    if (!/job-(done|stream)/.test(url) || !isResultError(error)) return;
    const { worker, jobId } = workerOf(request);
    const isTooLarge = !(error instanceof ServiceError) && url.includes("job-done");
    const reason = isTooLarge ? oversize(operationOf(worker, jobId)) : error.message;
    await dispatcher.finish(worker, jobId, rejectedResult(reason), false);
  }

  async function takeJobs(request: FastifyRequest<WorkerRoute>, reply: FastifyReply, batch: boolean): Promise<unknown> {
    const { worker } = workerOf(request);
    const query = takeQuery.parse(request.query);
    const isBusy = query.job_in_progress === undefined ? undefined : query.job_in_progress === "1";
    const disconnect = disconnectSignal(reply);
    const deliveries = await dispatcher.takeJobs(worker, batch ? query.batch_size : 1, isBusy, disconnect);
    if (deliveries.length === 0) return reply.code(204).send();
    // A closed connection is detected one turn later. Two immediates, because the first may run in the current turn.
    await new Promise((resolve) => setImmediate(setImmediate, resolve));
    onAbort(disconnect, () => {
      const jobIds = deliveries.map(({ job }) => job.id);
      return dispatcher.requeueUndelivered(worker, jobIds);
    });
    const text = batch ? `[${deliveries.map(jobText).join(",")}]` : deliveries.map(jobText).join("");
    return reply.type("application/json").send(text);
  }
  app.get<WorkerRoute>("/:endpointId/job-take/:workerId", options, (request, reply) => takeJobs(request, reply, false));
  app.get<WorkerRoute>("/:endpointId/job-take-batch/:workerId", options, (request, reply) =>
    takeJobs(request, reply, true),
  );

  app.get<WorkerRoute>("/:endpointId/job-stop/:workerId", options, async (request, reply) => {
    const { worker } = workerOf(request);
    const jobsToStop = await dispatcher.pollStops(worker, disconnectSignal(reply));
    return jobsToStop.length > 0 ? { jobsToStop } : reply.code(204).send();
  });

  app.post<WorkerRoute>("/:endpointId/job-done/:workerId/:jobId", options, async (request) => {
    const { worker, jobId } = workerOf(request);
    const members = readMembers(bodyText(request) || "{}");
    const result = readResult(members, operationOf(worker, jobId));
    const { status, startReport, output, error, refresh } = result;
    if (startReport?.event === "prestart_failed")
      worker.startFailed(
        limitError(worker.redact(`its start hook failed: ${startReport.error_type}: ${startReport.error_message}`)),
      );
    if (status === "IN_PROGRESS" && error === undefined) await jobs.progress(jobId, worker, output ?? "null");
    else if (startReport?.event === "prestart_cancelled") await dispatcher.requeueUndelivered(worker, [jobId]);
    else await dispatcher.finish(worker, jobId, result, refresh);
    return { status: "ok" };
  });

  app.post<WorkerRoute>("/:endpointId/job-stream/:workerId/:jobId", options, async (request) => {
    const { worker, jobId } = workerOf(request);
    const members = readMembers(bodyText(request) || "{}");
    await stream.append(jobId, worker, { output: members.get("output"), metrics: members.get("metrics") });
    return { status: "ok" };
  });

  app.get<WorkerRoute>("/:endpointId/ping/:workerId", options, async (request) => {
    const { worker } = workerOf(request);
    const { job_id: ids, status, reason } = parseInput(pingQuery, request.query);
    worker.heartbeat(ids ? ids.split(",") : [], status === "unhealthy" ? (reason ?? "no reason") : undefined);
    return { status: "ok" };
  });
}

const isResultError = (error: FastifyError | ServiceError): boolean =>
  error instanceof ServiceError ? error.code === "invalid" : error.code === "FST_ERR_CTP_BODY_TOO_LARGE";

/** Checks the token, which workers send as `<token>` or `Bearer <token>`. */
function checkToken(request: FastifyRequest<WorkerRoute>, tokenOf: (endpointId: string) => string | undefined): void {
  const token = tokenOf(request.params.endpointId);
  // A missing endpoint is reported like a wrong token, because the caller has shown no key.
  if (token === undefined || !keysIn(request.headers.authorization).some((key) => isSameKey(key, token)))
    throw new ServiceError("unauthorized", "unauthorized: the worker token is missing or wrong");
}
