import type { ServerResponse } from "node:http";
import type { Clock } from "serverless-compute-api/clock";
import { z } from "zod";
import { notFound, ServiceError } from "../errors";
import { parseInput } from "../validation";

const count = z.int().min(0).max(1_000_000);

/** Faults of one endpoint. Counts are decremented with each injection. */
export const faultShape = z
  .strictObject({
    /** Delay before processing a request of the job API or to the load balancer, ms. */
    delay: z.int().min(0).max(600_000),
    /** Number of these requests that get 429. */
    tooManyRequests: count,
    /** Number of these requests that get 500, after those with 429. */
    serverErrors: count,
    /** Number of these requests that are processed but get no response. */
    dropResponses: count,
    /** Number of jobs that fail when their worker returns a result. */
    failJobs: count,
    /** Number of jobs whose worker is killed at their start. */
    crashJobs: count,
    /** New workers exit immediately (`crash`) or never request a job (`hang`). */
    workers: z.enum(["crash", "hang"]),
    /** True if no worker can be started. */
    noStock: z.boolean(),
    /** True if workers receive a job whose input is empty without its input, as they do in the hosted service. */
    stripEmptyInput: z.boolean(),
  })
  .partial();

/** Faults of one endpoint; absent ones are off. */
export type EndpointFaults = z.output<typeof faultShape>;

/** Programs that replace a worker. */
const workerPrograms = {
  crash: 'console.error("injected fault: the worker crashes"); process.exit(1);',
  hang: 'console.error("injected fault: the worker requests no job"); setInterval(() => {}, 60_000);',
} as const;

export type Faults = ReturnType<typeof createFaults>;

/** No faults, for requests that are exempt. */
export const noRequestFaults: Pick<Faults, "ofRequest" | "isDropped"> = {
  ofRequest: () => undefined,
  isDropped: () => false,
};

/** Injected faults by endpoint, for tests of clients. They are kept in memory until the service stops or the endpoint is deleted. */
export function createFaults({
  clock,
  stopping,
  exists,
  logNotice,
  onReplaced,
}: {
  clock: Clock;
  /** Aborts when the service stops; delayed requests fail with its reason. */
  stopping: AbortSignal;
  exists(endpointId: string): boolean;
  /** Logs an injection. */
  logNotice(endpointId: string, text: string): void;
  /** Called after a replacement of an endpoint's faults. */
  onReplaced(endpointId: string): void;
}) {
  const endpoints = new Map<string, EndpointFaults>();
  const droppedResponses = new WeakSet<ServerResponse>();

  /** Consumes one counted fault; returns false if none remains. */
  function consume(
    endpointId: string,
    fault: "tooManyRequests" | "serverErrors" | "dropResponses" | "failJobs" | "crashJobs",
    text: string,
  ): boolean {
    const faults = endpoints.get(endpointId);
    const remaining = faults?.[fault] ?? 0;
    if (remaining === 0) return false;
    endpoints.set(endpointId, { ...faults, [fault]: remaining - 1 });
    logNotice(endpointId, `injected fault: ${text}; remaining ${fault}: ${remaining - 1}`);
    return true;
  }

  /** Returns the remaining faults; throws a ServiceError `missing` for an unknown endpoint. */
  function read(endpointId: string): EndpointFaults {
    if (!exists(endpointId)) throw notFound("endpoint", endpointId);
    return endpoints.get(endpointId) ?? {};
  }

  return {
    read,
    /** Replaces all faults of an endpoint; throws a ServiceError `invalid` for an invalid fault. */
    replace(endpointId: string, input: unknown): EndpointFaults {
      read(endpointId);
      const faults = parseInput(faultShape, input);
      endpoints.set(endpointId, faults);
      logNotice(endpointId, `injected faults: set to ${JSON.stringify(faults)}`);
      onReplaced(endpointId);
      return faults;
    },
    removeEndpoint: (endpointId: string): void => void endpoints.delete(endpointId),

    /** Delays a request or throws an error; returns undefined without a fault. */
    ofRequest(endpointId: string, response: ServerResponse): Promise<void> | undefined {
      return endpoints.has(endpointId) ? delayRequest(endpointId, response) : undefined;
    },
    /** Returns whether a response must be dropped. */
    isDropped: (response: ServerResponse): boolean => droppedResponses.has(response),

    /** The injected outcome of a job whose worker returned a result; undefined without this fault. */
    jobFailure: (endpointId: string, jobId: string): { error: string; output: undefined } | undefined =>
      consume(endpointId, "failJobs", `job ${jobId} fails`)
        ? { error: "injected fault: the job fails", output: undefined }
        : undefined,
    /** Returns whether `crashJobs` crashes the worker of a started job. */
    crashesWorker: (endpointId: string, jobId: string): boolean =>
      consume(endpointId, "crashJobs", `a worker crashes at job ${jobId}`),
    /** The program that replaces a starting worker; undefined without this fault. */
    workerProgram(endpointId: string): { file: string; args: string[]; channel: false } | undefined {
      const { workers } = endpoints.get(endpointId) ?? {};
      if (workers === undefined) return undefined;
      logNotice(endpointId, `injected fault: a worker starts with the fault "${workers}"`);
      return { file: process.execPath, args: ["--eval", workerPrograms[workers]], channel: false };
    },
    /** Returns whether workers receive empty inputs of the endpoint's jobs. */
    stripsEmptyInput: (endpointId: string): boolean => endpoints.get(endpointId)?.stripEmptyInput === true,
    /** The injected lack of stock; undefined without this fault. */
    lackOfStock: (endpointId: string): string | undefined =>
      endpoints.get(endpointId)?.noStock ? "injected fault: no stock, so no worker starts" : undefined,
  };

  async function delayRequest(endpointId: string, response: ServerResponse): Promise<void> {
    const { delay = 0 } = endpoints.get(endpointId) ?? {};
    if (delay > 0) {
      logNotice(endpointId, `injected fault: a request is delayed by ${delay} ms`);
      await clock.sleep(delay, stopping);
    }
    if (consume(endpointId, "tooManyRequests", "a request gets 429"))
      throw new ServiceError("tooManyRequests", "injected fault: too many requests", { "retry-after": "1" });
    if (consume(endpointId, "serverErrors", "a request gets 500"))
      throw new ServiceError("internal", "injected fault: internal server error");
    if (consume(endpointId, "dropResponses", "a response is dropped")) droppedResponses.add(response);
  }
}
