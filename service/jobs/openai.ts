import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from "fastify";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "../errors";
import { bodyText, parseMembers, readMembers } from "../http/body-text";
import { abortWhenGone, whenGone } from "../http/gone";
import { elementTexts, memberTexts } from "../json-text";
import { parseInput } from "../validation";
import { isOver, type Job, type JobOperation, type QueuedJob } from "./job";
import type { Ledger } from "./ledger";
import type { JobStream } from "./stream";
import type { JobWaiters } from "./waiters";

export interface OpenaiDeps {
  submit(request: FastifyRequest, operation: JobOperation, body: string): Promise<QueuedJob>;
  find(endpointId: string, jobId: string): Job;
  ledger: Pick<Ledger, "find" | "cancel">;
  waiters: JobWaiters;
  stream: JobStream;
  options: Pick<RouteShorthandOptions, "onRequest">;
}

const path = z.object({ "*": z.string() });
const openaiInput = z.looseObject({ stream: z.boolean().optional() });

/** POST /openai/*: a job with `{openai_route, openai_input}`; answers its output, as server-sent events when it streams. */
export function registerOpenaiRoute(
  app: FastifyInstance,
  { submit, find, ledger, waiters, stream, options }: OpenaiDeps,
): void {
  const wait = limits.runsyncWait.max;

  app.post("/:endpointId/openai/*", { ...options, bodyLimit: limits.runsyncPayload }, async (request, reply) => {
    const route = `/${path.parse(request.params)["*"]}`;
    const body = bodyText(request);
    const { stream: streams } = parseInput(openaiInput, parseMembers(readMembers(body), ["stream"]));
    const gone = abortWhenGone(reply);
    const input = `{"openai_route":${JSON.stringify(route)},"openai_input":${body}}`;
    const job = await submit(request, "openai", `{"input":${input}}`);
    // Nobody can ask for this job again: it ends with its caller.
    whenGone(gone, () => ledger.cancel(job.endpointId, job.id));
    if (streams === true) return sendEvents(reply, job, gone);
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
        const event = eventOf(memberTexts(chunk)?.get("output") ?? "null");
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

/** Handlers yield ready-made events as text, or values that become one; `output` is JSON. */
function eventOf(output: string): string {
  // A line break between tokens would end the line of the event.
  if (!output.startsWith('"data:')) return `data: ${output.replace(/[\r\n]+/g, " ")}\n\n`;
  const event = z.string().parse(JSON.parse(output));
  return event.endsWith("\n\n") ? event : `${event.trimEnd()}\n\n`;
}

/** A finished job's output; a handler that streams has a list, whose only element is the answer. */
function outputOf(job: Job): string {
  if (!isOver(job)) throw new ServiceError("internal", `job "${job.id}" did not end in time: it is ${job.status}`);
  if (job.status !== "COMPLETED") {
    throw new ServiceError("internal", "error" in job ? job.error : `job "${job.id}" is ${job.status}`);
  }
  if (job.output === undefined) return "null";
  if (job.chunks === 0) return job.output;
  const [only, ...more] = elementTexts(job.output) ?? [];
  return only !== undefined && more.length === 0 ? only : job.output;
}
