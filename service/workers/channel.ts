import { timingSafeEqual } from "node:crypto";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { notFound, ServiceError } from "../errors";
import { bodyText, keepBodyText, parseMembers, readMembers } from "../http/body-text";
import { abortWhenGone, whenGone } from "../http/gone";
import type { JobOperation, TakenJob } from "../jobs/job";
import type { Ledger } from "../jobs/ledger";
import type { JobStream } from "../jobs/stream";
import { parseInput } from "../validation";
import type { WorkerDesk } from "./desk";

/** What the workers' routes need. */
export interface ChannelDeps {
  desk: WorkerDesk;
  ledger: Pick<Ledger, "find" | "progress">;
  stream: Pick<JobStream, "append">;
  /** The token of the endpoint's workers; undefined when there is no such endpoint. */
  token(endpointId: string): string | undefined;
}

const takeQuery = z.object({
  job_in_progress: z.enum(["0", "1"]).optional().catch(undefined),
  batch_size: z.coerce.number().int().min(1).max(1000).catch(1).default(1),
});
const pingQuery = z.object({
  job_id: z.string().optional(),
  status: z.string().optional(),
  reason: z.string().optional(),
});
const params = z.object({ endpointId: z.string(), workerId: z.string(), jobId: z.string().default("") });
const result = z.object({ status: z.string().optional(), stopPod: z.boolean().optional() });

/** Results may be as large as the largest answer (interface: Limits), with room for what JSON adds. */
const bodyLimit = limits.runsyncPayload + 1024 * 1024;
const options = { config: { audience: "worker" }, bodyLimit } as const;

/** The workers' side of the job API, in the words of the public Python SDK; registered under /v2. */
export function registerChannelRoutes(app: FastifyInstance, { desk, ledger, stream, token }: ChannelDeps): void {
  // JSON text whatever the content type says: the SDK sends it as a form.
  keepBodyText(app, ["application/json", "application/x-www-form-urlencoded"], bodyLimit);
  app.addHook("onRequest", async (request) => checkToken(request, token));
  app.setErrorHandler(async (error: FastifyError | ServiceError, request) => {
    await failRefused(request, error);
    throw error;
  });
  const workerOf = (request: FastifyRequest) => {
    const { endpointId, workerId, jobId } = params.parse(request.params);
    return { worker: desk.greet(endpointId, workerId), jobId };
  };

  /** A result that cannot be read ends its job: the worker would make the same one again. */
  async function failRefused(request: FastifyRequest, error: FastifyError | ServiceError): Promise<void> {
    const { url = "" } = request.routeOptions;
    if (!/job-(done|stream)/.test(url) || !isFaultOfResult(error)) return;
    const { worker, jobId } = workerOf(request);
    const text = `the worker's result was refused: ${error.message}`;
    await desk.finish(worker, jobId, { error: text, output: undefined }, false);
  }

  async function take(request: FastifyRequest, reply: FastifyReply, batch: boolean): Promise<unknown> {
    const { worker } = workerOf(request);
    const query = takeQuery.parse(request.query);
    const busy = query.job_in_progress === undefined ? undefined : query.job_in_progress === "1";
    const gone = abortWhenGone(reply);
    const jobs = await desk.take(worker, batch ? query.batch_size : 1, busy, gone);
    if (jobs.length === 0) return reply.code(204).send();
    whenGone(gone, () => desk.undelivered(worker, jobs));
    const text = batch ? `[${jobs.map(jobText).join(",")}]` : jobs.map(jobText).join("");
    return reply.type("application/json").send(text);
  }
  app.get("/:endpointId/job-take/:workerId", options, (request, reply) => take(request, reply, false));
  app.get("/:endpointId/job-take-batch/:workerId", options, (request, reply) => take(request, reply, true));

  app.get("/:endpointId/job-stop/:workerId", options, async (request, reply) => {
    const { worker } = workerOf(request);
    const jobsToStop = await desk.stops(worker, abortWhenGone(reply));
    return jobsToStop.length > 0 ? { jobsToStop } : reply.code(204).send();
  });

  app.post("/:endpointId/job-done/:workerId/:jobId", options, async (request) => {
    const { worker, jobId } = workerOf(request);
    const members = readMembers(bodyText(request) || "{}");
    const { status, stopPod } = parseInput(result, parseMembers(members, ["status", "stopPod"]));
    const output = members.get("output");
    const error = errorOf(members.get("error"));
    if (status === "IN_PROGRESS") await ledger.progress(jobId, worker.id, output ?? "null");
    else {
      const operation = ledger.find(worker.endpointId, jobId)?.operation;
      const outcome = error === undefined ? outcomeOf(output, operation) : { error, output };
      await desk.finish(worker, jobId, outcome, stopPod === true);
    }
    return { status: "ok" };
  });

  app.post("/:endpointId/job-stream/:workerId/:jobId", options, async (request) => {
    const { worker, jobId } = workerOf(request);
    const members = readMembers(bodyText(request) || "{}");
    await stream.append(jobId, worker.id, { output: members.get("output"), metrics: members.get("metrics") });
    return { status: "ok" };
  });

  app.get("/:endpointId/ping/:workerId", options, async (request) => {
    const { worker } = workerOf(request);
    const { job_id: jobs, status, reason } = pingQuery.parse(request.query);
    desk.ping(worker, jobs ? jobs.split(",") : [], status === "unhealthy" ? (reason ?? "no reason") : undefined);
    return { status: "ok" };
  });
}

const isFaultOfResult = (error: FastifyError | ServiceError): boolean =>
  error instanceof ServiceError ? error.code === "invalid" : error.code === "FST_ERR_CTP_BODY_TOO_LARGE";

/** A result; its output may be as large as the payload of the operation that submitted the job (interface: Limits). */
function outcomeOf(output: string | undefined, operation: JobOperation | undefined) {
  const limit = operation === "run" ? limits.runPayload : limits.runsyncPayload;
  const bytes = output === undefined ? 0 : Buffer.byteLength(output);
  if (bytes <= limit) return { output };
  const asked = operation === "run" ? "/run" : "/runsync";
  const error = `the output has ${bytes} bytes, more than the ${limit} that a result of ${asked} may have: store it elsewhere and return where`;
  return { error, output: undefined };
}

/** What a worker tells of a failure, given as JSON: a text as it is, any other value as JSON; undefined for no failure. */
function errorOf(json: string | undefined): string | undefined {
  if (json === undefined || json === "null" || json === '""') return undefined;
  return json.startsWith('"') ? z.string().parse(JSON.parse(json)) : json;
}

const jobText = ({ job, input, s3Config }: TakenJob): string =>
  `{"id":${JSON.stringify(job.id)},"input":${input}${s3Config === undefined ? "" : `,"s3Config":${s3Config}`}}`;

/** Workers send their token raw; the form `Bearer <token>` is as good. */
function checkToken(request: FastifyRequest, token: ChannelDeps["token"]): void {
  const { endpointId } = z.object({ endpointId: z.string() }).parse(request.params);
  const expected = token(endpointId);
  if (expected === undefined) throw notFound("endpoint", endpointId);
  const given = Buffer.from(request.headers.authorization?.trim().replace(/^Bearer +/i, "") ?? "");
  const wanted = Buffer.from(expected);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new ServiceError("unauthorized", "unauthorized: the worker token is missing or wrong");
  }
}
