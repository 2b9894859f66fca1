import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "../errors";
import { bodyText, parseMembers, readMembers } from "../http/body-text";
import { abortWhenGone, whenGone } from "../http/gone";
import { elementTexts } from "../json-text";
import type { JobStore } from "../store/jobs";
import { parseInput } from "../validation";
import { type CompletedJob, isOver, type Job, type JobOperation, type QueuedJob } from "./job";
import type { Ledger } from "./ledger";
import { createEventWriter, eventOf } from "./openai-events";
import type { JobStream, StreamReading } from "./stream";
import type { JobWaiters } from "./waiters";

export interface OpenaiDeps {
  jobs: Pick<JobStore, "output">;
  submit(request: FastifyRequest, operation: JobOperation, body: string): Promise<QueuedJob>;
  ledger: Pick<Ledger, "find" | "cancel">;
  waiters: JobWaiters;
  stream: Pick<JobStream, "read">;
  clock: Clock;
  options: Pick<RouteShorthandOptions, "onRequest">;
}

const path = z.object({ "*": z.string() });
const openaiInput = z.looseObject({ stream: z.boolean().nullish() });

/** How long a call waits for its answer, a stream for its first event, ms; and for a client that reads nothing. */
const wait = limits.runsyncWait.max;

/** POST /openai/*: a job with `{openai_route, openai_input}`; answers its output, as server-sent events when it streams. */
export function registerOpenaiRoute(app: FastifyInstance, deps: OpenaiDeps): void {
  const { submit, ledger, jobs, waiters, stream, clock, options } = deps;

  app.post("/:endpointId/openai/*", { ...options, bodyLimit: limits.runsyncPayload }, async (request, reply) => {
    const route = `/${path.parse(request.params)["*"]}`;
    const body = bodyText(request);
    const { stream: streams } = parseInput(openaiInput, parseMembers(readMembers(body), ["stream"]));
    const gone = abortWhenGone(reply);
    const input = `{"openai_route":${JSON.stringify(route)},"openai_input":${body}}`;
    const { endpointId, id } = await submit(request, "openai", `{"input":${input}}`);
    const cancel = () => ledger.cancel(endpointId, id);
    // Nobody can ask for this job again: it ends with its caller.
    whenGone(gone, cancel);
    if (streams === true) return sendEvents(reply, () => ledger.find(endpointId, id), cancel, gone);
    await waiters.over(id, wait, gone);
    const job = ledger.find(endpointId, id);
    if (job && !isOver(job)) await cancel();
    return reply.type("application/json").send(outputOf(completed(job)));
  });

  /** The job as it has to be for an answer; otherwise why there is none. */
  function completed(job: Job | undefined): CompletedJob {
    if (job?.status === "COMPLETED") return job;
    throw faultOf(job);
  }

  /** A completed job's output; a handler that streams has a list, whose only element is the answer. */
  function outputOf(job: CompletedJob): string {
    const output = jobs.output(job.seq) ?? "null";
    if (job.chunks === 0) return output;
    const [only, ...more] = elementTexts(output) ?? [];
    return only !== undefined && more.length === 0 ? only : output;
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
        if (waiters.closed) return new ServiceError("stopping", "the service is stopping");
        return new ServiceError(
          "jobTimedOut",
          `job "${job?.id}" did not end within ${wait / 1000} s and is cancelled, it was ${job?.status}: send long work to /run`,
        );
    }
  }

  /** The first reading with something to send; undefined when the client left before. */
  async function firstReading(find: () => Job | undefined, gone: AbortSignal): Promise<StreamReading | undefined> {
    const end = clock.now() + wait;
    for (;;) {
      const reading = await stream.read(find, gone, end - clock.now());
      if (gone.aborted) return undefined;
      if (reading?.chunks.length) return reading;
      if (reading?.job.status === "COMPLETED") return reading;
      if (!reading || isOver(reading.job) || waiters.closed || clock.now() >= end) throw faultOf(reading?.job);
    }
  }

  async function sendEvents(
    reply: FastifyReply,
    find: () => Job | undefined,
    cancel: () => Promise<unknown>,
    gone: AbortSignal,
  ): Promise<void> {
    // Until there is something to send, a fault is an answer with its own status.
    let reading = await firstReading(find, gone).catch(async (fault: unknown) => {
      await cancel();
      throw fault;
    });
    reply.hijack();
    if (!reading) return;
    const events = createEventWriter(reply.raw, clock, gone);
    const { retries } = reading.job;
    try {
      if (reading.chunks.length === 0) await events.write(eventOf(outputOf(completed(reading.job))));
      for (;;) {
        if (reading && reading.job.retries !== retries) {
          await cancel();
          return await events.fail(new ServiceError("jobFailed", "the worker was lost in the middle of its stream"));
        }
        for (const chunk of reading?.chunks ?? []) await events.writeChunk(chunk);
        if (gone.aborted) return;
        if (reading?.done && reading.job.status === "COMPLETED") return await events.end();
        if (!reading || reading.done || waiters.closed) {
          await cancel();
          return await events.fail(faultOf(reading?.job));
        }
        reading = await stream.read(find, gone);
      }
    } catch (error) {
      reply.raw.destroy();
      throw error;
    }
  }
}
