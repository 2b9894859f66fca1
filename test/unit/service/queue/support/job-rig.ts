import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createService, type Service, type ServiceOptions } from "serverless-compute-local";
import { afterAll, expect, onTestFinished } from "vitest";
import { z } from "zod";
import { type AtEnd, serviceFolder } from "../../../../support/folders";
import { type RawResponse, send as sendRequest, stringAt } from "../../../../support/raw-http";

/** Options of the service; without them, it starts no containers and has no rate limits. */
export type RigOptions = Pick<
  ServiceOptions,
  "images" | "timings" | "clock" | "jobVisibilityDelay" | "stream" | "runtime" | "rateLimits" | "onNotice" | "logLevel"
>;

/** A real service with its own timings, on a free port and in its own folder. */
export type JobRig = Awaited<ReturnType<typeof openJobRig>>;

/** The job API of one endpoint. */
export type Jobs = ReturnType<JobRig["jobs"]>;

const record = z.record(z.string(), z.unknown());
const healthShape = z.looseObject({
  jobs: z.record(z.string(), z.number()),
  workers: z.record(z.string(), z.number()),
  message: z.string().optional(),
});
type Health = z.output<typeof healthShape>;
const finals = ["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"];
/** The key of the rig's account. */
export const apiKey = "a-key-for-this-test-only";

/** Starts a service for one test; `useSharedJobRig` starts a service for all tests of a file. */
export const useJobRig = (options: RigOptions = {}): Promise<JobRig> => openJobRig(options, onTestFinished);

/** Starts a service for all tests of a file. */
export const useSharedJobRig = (options: RigOptions = {}): Promise<JobRig> => openJobRig(options, afterAll);

async function openJobRig(options: RigOptions, atEnd: AtEnd) {
  const dataFolder = serviceFolder(atEnd);
  let names = 0;
  let running = await open();
  atEnd(() => running.stop(0));

  function open(): Promise<Service> {
    const input = { runtime: "none", rateLimits: "off", stream: "array", ...options } as const;
    return createService({ ...input, port: 0, dataFolder, apiKey, templateRelease: 0, console: false });
  }

  const send = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) => {
    const body = typeof json === "string" ? { text: json } : { json };
    return sendRequest(method, `${running.serverlessUrl}${path}`, { key: apiKey, headers, ...body });
  };

  function jobsOf(id: string) {
    const call = (
      method: string,
      path: string,
      json?: unknown,
      headers?: Record<string, string>,
    ): Promise<RawResponse> => send(method, `/v2/${id}${path}`, json, headers);
    const health = async (): Promise<Health> => healthShape.parse((await call("GET", "/health")).json);
    return {
      id,
      call,
      health,
      async run(input: object, more: object = {}): Promise<string> {
        return stringAt(await call("POST", "/run", { input, ...more }), "id");
      },
      /** Polls /status until the job is in one of the states. Default: the final states. */
      async reaches(jobId: string, ...states: string[]): Promise<Record<string, unknown>> {
        const expected = states.length > 0 ? states : finals;
        let last: Record<string, unknown> = {};
        await expect
          .poll(
            async () => {
              last = record.parse((await call("GET", `/status/${jobId}`)).json);
              return last["status"];
            },
            { message: `job ${jobId} should become ${expected.join(" or ")}` },
          )
          .toSatisfy((status) => expected.includes(String(status)));
        return last;
      },
      /** Polls /health until it matches. */
      healthBecomes: (matches: (health: Health) => boolean): Promise<void> => expect.poll(health).toSatisfy(matches),
    };
  }

  return {
    get root() {
      return running.serverlessUrl;
    },
    get service() {
      return running;
    },
    dataFolder,
    rest: (method: string, path: string, json?: unknown) => send(method, `/v1${path}`, json),
    graphql: (query: string) => send("POST", "/graphql", { query }),
    /** The job API of an existing endpoint. */
    jobs: jobsOf,
    /** Creates an endpoint that runs `image` with at most one worker by default. */
    async endpoint(image: string, fields: object = {}, template: object = {}) {
      const created = { name: `t${++names}`, imageName: image, isServerless: true, volumeInGb: 0, ...template };
      const templateId = stringAt(await send("POST", "/v1/templates", created), "id");
      const body = { name: `e${names}`, templateId, workersMax: 1, ...fields };
      return jobsOf(stringAt(await send("POST", "/v1/endpoints", body), "id"));
    },
    /** Stops the service, and starts another one on the same folder. */
    async restart(deadline = 0): Promise<void> {
      await running.stop(deadline);
      running = await open();
    },
    stop: (deadline = 0) => running.stop(deadline),
    /** The log of an endpoint's workers. */
    workerLog: (endpointId: string) => readFile(join(dataFolder, "logs", `${endpointId}.log`), "utf8"),
  };
}
