import type { FastifyInstance, FastifyReply } from "fastify";
import { elementTexts, JsonTextError, memberTexts } from "serverless-compute-api/json-text";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { disconnectSignal, onAbort } from "../client-disconnect";
import { ServiceError, serviceStopping } from "../errors";
import { parseMembers, readMembers } from "../json-members";
import type { JobQueue } from "../queue";
import { isFinal, type Job } from "../queue/job";
import type { StoredJob } from "../queue/row";
import type { StreamReading } from "../queue/stream";
import type { SteadyClock } from "../steady-clock";
import { parseInput } from "../validation";
import type { Admission } from "./admission";
import { createEventWriter } from "./openai-events";
import { bodyText } from "./request-body";
import { readSubmission } from "./submission";

type FindJob = () => StoredJob | undefined;

interface OpenaiPath {
  Params: { endpointId: string; "*": string };
}

const openaiInput = z.looseObject({ stream: z.boolean().nullish() });

/** Maximum wait for a response, and for the first event of a stream, ms. */
const maxWait = limits.runsyncWait.max;

/**
 * Runs each request to /openai/* as a job with `{openai_route, openai_input}`; the output is the response, or server-sent events. The scope
 * must keep the text of bodies.
 */
export function registerOpenaiRoute(
  app: FastifyInstance,
  {
    admit,
    queue: { jobs, list, pendingRequests, stream },
    clock,
  }: { admit: Admission; queue: Pick<JobQueue, "jobs" | "list" | "pendingRequests" | "stream">; clock: SteadyClock },
): void {
  app.route<OpenaiPath>({
    ...admit("openai"),
    method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    url: "/:endpointId/openai/*",
    bodyLimit: limits.runsyncPayload,
    handler: async (request, reply) => {
      const { endpointId, "*": route } = request.params;
      const requestText = bodyText(request);
      const body = requestText === "" && request.method !== "POST" ? "{}" : requestText;
      const { stream: isStreaming } = parseInput(openaiInput, parseMembers(readMembers(body), ["stream"]));
      const disconnect = disconnectSignal(reply);
      const input = `{"openai_route":${JSON.stringify(`/${route}`)},"openai_input":${body}}`;
      const job = readSubmission(endpointId, "openai", `{"input":${input}}`, clock);
      await jobs.submit(job);
      const { id } = job;
      const cancel = () => jobs.cancel(endpointId, id);
      // The client does not know the job's id, so the job ends with the request.
      onAbort(disconnect, cancel);
      const find = () => list.find(endpointId, id);
      if (isStreaming === true) return sendEvents(reply, find, cancel, disconnect);
      const submitted = find();
      // The commit of the submission may already have removed the job.
      if (submitted && !isFinal(submitted.job)) await pendingRequests.waitForChange(id, maxWait, disconnect, false);
      const found = find();
      if (found && !isFinal(found.job)) await cancel();
      return reply.type("application/json").send(outputOf(found));
    },
  });

  /**
   * A completed job's output; for a streaming handler, the only element of its list. A text that contains a JSON object or list is that
   * value, because some workers yield the lines of a response. Throws a ServiceError if there is no output.
   */
  function outputOf(found: StoredJob | undefined): string {
    if (found?.job.status !== "COMPLETED") throw faultOf(found?.job);
    const { job, output = "null" } = found;
    const elements = (job.chunks > 0 && elementTexts(output)) || [output];
    const [only = output, ...more] = elements;
    return jsonIn(elements) ?? (more.length === 0 ? only : output);
  }

  function faultOf(job: Job | undefined): ServiceError {
    switch (job?.status) {
      case "FAILED":
        return new ServiceError("jobFailed", job.error);
      case "TIMED_OUT":
        return new ServiceError("jobTimedOut", job.error);
      case "CANCELLED":
        return new ServiceError("jobCancelled", `job "${job.id}" was cancelled`);
      case undefined:
        return new ServiceError("missing", "the job was removed: by its ttl, a purge or the end of its endpoint");
      default:
        if (pendingRequests.closed) return serviceStopping();
        return new ServiceError(
          "jobTimedOut",
          `job "${job?.id}" did not end within ${maxWait / 1000} s and was cancelled while ${job?.status}; use /run for long jobs`,
        );
    }
  }

  /** Reads the job's stream; its chunks count as received, because the job ends with the request. */
  async function readStream(find: FindJob, disconnect: AbortSignal, waitTime?: number) {
    const reading = await stream.read(() => find()?.job, disconnect, waitTime);
    await reading?.acknowledge(true);
    return reading;
  }

  /** Waits for the first chunks or the end of the stream; undefined if the client disconnects before. */
  async function firstReading(find: FindJob, disconnect: AbortSignal): Promise<StreamReading | undefined> {
    const deadline = clock.now() + maxWait;
    for (;;) {
      const reading = await readStream(find, disconnect, deadline - clock.now());
      if (disconnect.aborted) return undefined;
      if (reading?.chunks.length) return reading;
      if (reading?.job.status === "COMPLETED") return reading;
      if (!reading || isFinal(reading.job) || pendingRequests.closed || clock.now() >= deadline)
        throw faultOf(reading?.job);
    }
  }

  async function sendEvents(
    reply: FastifyReply,
    find: FindJob,
    cancel: () => Promise<unknown>,
    disconnect: AbortSignal,
  ): Promise<void> {
    // Before the first event, an error is a response with its own status.
    let reading = await firstReading(find, disconnect).catch(async (fault: unknown) => {
      await cancel();
      throw fault;
    });
    reply.hijack();
    if (!reading) return;
    const events = createEventWriter(reply.raw, clock, disconnect);
    const { retries } = reading.job;
    try {
      if (reading.chunks.length === 0) await events.writeValue(outputOf(find()));
      for (;;) {
        if (reading && reading.job.retries !== retries) {
          await cancel();
          return await events.fail(new ServiceError("jobFailed", "the worker was lost during its stream"));
        }
        for (const chunk of reading?.chunks ?? []) await events.writeChunk(chunk);
        if (disconnect.aborted) return;
        if (reading?.done && reading.job.status === "COMPLETED") return await events.end();
        if (!reading || reading.done || pendingRequests.closed) {
          await cancel();
          return await events.fail(faultOf(reading?.job));
        }
        reading = await readStream(find, disconnect);
      }
    } catch (error) {
      reply.raw.destroy();
      throw error;
    }
  }
}

/** The JSON object or list in lines of text (JSON strings); undefined for other values. */
function jsonIn(lines: string[]): string | undefined {
  if (!lines.every((line) => line.startsWith('"'))) return undefined;
  const text = lines.map((line) => z.string().parse(JSON.parse(line))).join("\n");
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    memberTexts(text);
    return text;
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}
