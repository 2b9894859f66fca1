import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "serverless-compute-api/clock";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, expect, onTestFinished } from "vitest";
import { z } from "zod";
import type { JobTimings } from "../../../../../service/jobs/timings";
import { discardServiceFolder } from "../../../../support/service-artefacts";

export interface RigOptions {
  images?: Record<string, string>;
  timings?: Partial<JobTimings>;
  clock?: Clock;
  stream?: "array" | "envelope";
  /** Default `none`. */
  runtime?: "auto" | "docker" | "none";
  /** Default `off`. */
  rateLimits?: "on" | "off";
  onNotice?: (text: string) => void;
}

export interface Answer {
  status: number;
  headers: Headers;
  json: unknown;
  /** A string field of the response; fails the test if it is missing. */
  text(field: string): string;
}

/** A real service with its own timings, on a free port and in its own folder. */
export interface JobRig {
  readonly root: string;
  readonly dataFolder: string;
  rest(method: string, path: string, json?: unknown): Promise<Answer>;
  graphql(query: string): Promise<Answer>;
  /** The job API of an existing endpoint. */
  jobs(endpointId: string): Jobs;
  /** A new endpoint that runs `image`, one worker at most unless `fields` say more. */
  endpoint(image: string, fields?: object, template?: object): Promise<Jobs>;
  /** Stops the service, and starts another one on the same folder. */
  restart(deadline?: number): Promise<void>;
  stop(deadline?: number): Promise<void>;
  /** The log of an endpoint's workers. */
  workerLog(endpointId: string): Promise<string>;
}

/** The job API of one endpoint. */
export interface Jobs {
  id: string;
  call(method: string, path: string, json?: unknown, headers?: Record<string, string>): Promise<Answer>;
  run(input: object, more?: object): Promise<string>;
  /** Polls /status until the job is in one of the states. Default: the final states. */
  reaches(id: string, ...states: string[]): Promise<Record<string, unknown>>;
  health(): Promise<Health>;
  /** Polls /health until it matches. */
  healthBecomes(fits: (health: Health) => boolean): Promise<void>;
}

const record = z.record(z.string(), z.unknown());
const healthShape = z.looseObject({
  jobs: z.record(z.string(), z.number()),
  workers: z.record(z.string(), z.number()),
  message: z.string().optional(),
});
type Health = z.output<typeof healthShape>;
const finals = ["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"];
const apiKey = "a-key-for-this-test-only";

/** A service for one test; `useSharedJobRig` starts one for all tests of a file. */
export const useJobRig = (options: RigOptions = {}): Promise<JobRig> => openJobRig(options, onTestFinished);

/** A service for all tests of a file. */
export const useSharedJobRig = (options: RigOptions = {}): Promise<JobRig> => openJobRig(options, afterAll);

async function openJobRig(
  {
    images = {},
    timings = {},
    clock = systemClock,
    stream = "array",
    runtime = "none",
    rateLimits = "off",
    onNotice = () => undefined,
  }: RigOptions,
  atEnd: (close: () => Promise<void>) => void,
): Promise<JobRig> {
  const dataFolder = await mkdtemp(join(tmpdir(), "job-rig-"));
  let names = 0;
  let running = await open();
  atEnd(async () => {
    await running.stop(0);
    await discardServiceFolder(dataFolder);
  });

  function open(): Promise<Service> {
    const folders = { dataFolder, apiKey };
    const service = { port: 0, images, timings, clock, stream, runtime, rateLimits, onNotice };
    return createService({ ...folders, ...service, templateRelease: 0, console: false });
  }

  async function send(
    method: string,
    path: string,
    json?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await fetch(`${running.serverlessUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
      ...(json === undefined ? {} : { body: typeof json === "string" ? json : JSON.stringify(json) }),
    });
    const text = await answer.text();
    const parsed: unknown = text === "" ? undefined : JSON.parse(text);
    return {
      status: answer.status,
      headers: answer.headers,
      json: parsed,
      text: (field) => z.string().parse(record.parse(parsed)[field]),
    };
  }

  function jobsOf(id: string): Jobs {
    const call: Jobs["call"] = (method, path, json, headers) => send(method, `/v2/${id}${path}`, json, headers);
    const health: Jobs["health"] = async () => healthShape.parse((await call("GET", "/health")).json);
    return {
      id,
      call,
      health,
      async run(input, more = {}) {
        const answer = await call("POST", "/run", { input, ...more });
        expect(answer.status, JSON.stringify(answer.json)).toBe(200);
        return answer.text("id");
      },
      async reaches(jobId, ...states) {
        const wanted = states.length > 0 ? states : finals;
        let last: Record<string, unknown> = {};
        await expect
          .poll(
            async () => {
              last = record.parse((await call("GET", `/status/${jobId}`)).json);
              return last["status"];
            },
            { message: `job ${jobId} was to become ${wanted.join(" or ")}` },
          )
          .toSatisfy((status) => wanted.includes(String(status)));
        return last;
      },
      healthBecomes: (fits) => expect.poll(health).toSatisfy(fits),
    };
  }

  return {
    get root() {
      return running.serverlessUrl;
    },
    dataFolder,
    rest: (method, path, json) => send(method, `/v1${path}`, json),
    graphql: (query) => send("POST", "/graphql", { query }),
    jobs: jobsOf,
    async endpoint(image, fields = {}, template = {}) {
      const made = { name: `t${++names}`, imageName: image, isServerless: true, volumeInGb: 0, ...template };
      const templateId = (await send("POST", "/v1/templates", made)).text("id");
      const body = { name: `e${names}`, templateId, workersMax: 1, ...fields };
      return jobsOf((await send("POST", "/v1/endpoints", body)).text("id"));
    },
    async restart(deadline = 0) {
      await running.stop(deadline);
      running = await open();
    },
    stop: (deadline = 0) => running.stop(deadline),
    workerLog: (endpointId) => readFile(join(dataFolder, "logs", `${endpointId}.log`), "utf8"),
  };
}
