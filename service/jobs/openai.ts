import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from "fastify";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "../errors";
import { abortWhenGone, whenGone } from "../http/gone";
import { parseInput } from "../validation";
import { isOver, type Job, type JobOperation, type QueuedJob } from "./job";
import type { Ledger } from "./ledger";
import type { JobStream } from "./stream";
import type { JobWaiters } from "./waiters";

export interface OpenaiDeps {
  submit(request: FastifyRequest, operation: JobOperation, body: unknown): Promise<QueuedJob>;
  find(endpointId: string, jobId: string): Job;
  ledger: Pick<Ledger, "find" | "cancel">;
  waiters: JobWaiters;
  stream: JobStream;
  options: Pick<RouteShorthandOptions, "onRequest">;
}

const path = z.object({ "*": z.string() });
const openaiInput = z.looseObject({ stream: z.boolean().optional() });
const chunkShape = z.object({ output: z.unknown() });

/** POST /openai/*: a job with `{openai_route, openai_input}`; answers its output, as server-sent events when it streams. */
export function registerOpenaiRoute(
  app: FastifyInstance,
  { submit, find, ledger, waiters, stream, options }: OpenaiDeps,
): void {
  const wait = limits.runsyncWait.max;

  app.post("/:endpointId/openai/*", { ...options, bodyLimit: limits.runsyncPayload }, async (request, reply) => {
    const route = `/${path.parse(request.params)["*"]}`;
    const body = parseInput(openaiInput, request.body);
    const gone = abortWhenGone(reply);
    const job = await submit(request, "openai", { input: { openai_route: route, openai_input: body } });
    // Nobody can ask for this job again: it ends with its caller.
    whenGone(gone, () => ledger.cancel(job.endpointId, job.id));
    if (body.stream === true) return sendEvents(reply, job, gone);
    await waiters.over(job.id, wait, gone);
    return reply.type("application/json").send(outputOf(find(job.endpointId, job.id)));
  });

  async function sendEvents(reply: FastifyReply, { endpointId, id }: QueuedJob, gone: AbortSignal): Promise<void> {
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    let ended = false;
    while (!gone.aborted) {
      const reading = await stream.read(() => ledger.find(endpointId, id), gone);
      for (const chunk of reading?.chunks ?? []) {
        const event = eventOf(chunkShape.parse(JSON.parse(chunk)).output);
        ended = event.includes("data: [DONE]");
        raw.write(event);
      }
      if (!reading || reading.done) {
        if (reading?.job.status === "FAILED")
          raw.write(`data: ${JSON.stringify({ error: { message: reading.job.error } })}\n\n`);
        break;
      }
    }
    raw.end(ended ? "" : "data: [DONE]\n\n");
  }
}

/** Handlers yield ready-made events as text, or values that become one. */
function eventOf(output: unknown): string {
  if (typeof output !== "string" || !output.startsWith("data:")) return `data: ${JSON.stringify(output)}\n\n`;
  return output.endsWith("\n\n") ? output : `${output.trimEnd()}\n\n`;
}

/** A finished job's output; a handler that streams has a list, whose only element is the answer. */
function outputOf(job: Job): string {
  if (!isOver(job)) throw new ServiceError("internal", `job "${job.id}" did not end in time: it is ${job.status}`);
  if (job.status !== "COMPLETED") {
    throw new ServiceError("internal", "error" in job ? job.error : `job "${job.id}" is ${job.status}`);
  }
  if (job.output === undefined) return "null";
  if (job.chunks === 0) return job.output;
  const parsed: unknown = JSON.parse(job.output);
  return Array.isArray(parsed) && parsed.length === 1 ? JSON.stringify(parsed[0]) : job.output;
}
