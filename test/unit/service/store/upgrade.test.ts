import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useWebhookReceiver } from "../../../conformance/support/webhook-receiver";
import objects from "../../../fixtures/service-0.1.0/objects.json";
import { LeapingClock } from "../../../support/leaping-clock";
import { type Answer, askUntil, at, expectAnswer, send } from "../../../support/raw-http";
import { discardServiceFolder } from "../../../support/service-artefacts";

/**
 * The data folder as a service of 0.1.0 left it when it was killed with -9 on 5 January 2026, 08:00:26: a worker of its
 * own and one elsewhere were at work. All keys, tokens and values in it are throw-aways; the webhooks' port is 59999.
 */
const fixture = fileURLToPath(new URL("../../../fixtures/service-0.1.0", import.meta.url));
/** Before the result of the /runsync is over at 08:01:01, and before the ttl of `jobs.short` at 08:00:32. */
const opened = Date.UTC(2026, 0, 5, 8, 0, 29);
const { jobs } = objects;

const clock = new LeapingClock();
const receiver = await useWebhookReceiver();
let service: Service;
let dataFolder: string;

beforeAll(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), "data-0.1.0-"));
  await cp(fixture, dataFolder, { recursive: true });
  // The text keeps its length, so the file is still one of SQLite.
  const port = new URL(receiver.address("running")).port.padStart(5, "0");
  const store = await readFile(join(fixture, "service.db"), "latin1");
  await writeFile(join(dataFolder, "service.db"), store.replaceAll("127.0.0.1:59999", `127.0.0.1:${port}`), "latin1");
  await clock.leap(opened - clock.now());
  const images = { "acme/task:1": join(fixture, "task.mjs") };
  service = await createService({ port: 0, dataFolder, clock, images, logLevel: "info" });
});
afterAll(async () => {
  await service.stop(0);
  await discardServiceFolder(dataFolder);
});

const rest = (path: string): Promise<Answer> => send("GET", `${service.baseUrl}${path}`, { key: service.apiKey });
const call = (method: string, endpointId: string, path: string): Promise<Answer> =>
  send(method, `${service.serverlessUrl}/v2/${endpointId}${path}`, { key: service.apiKey });
const status = (id: string, endpointId = objects.chat): Promise<Answer> => call("GET", endpointId, `/status/${id}`);
const completed = (id: string, endpointId = objects.chat): Promise<Answer> =>
  askUntil(
    () => status(id, endpointId),
    ({ json }) => at(json, "status") === "COMPLETED",
  );

describe("a data folder of 0.1.0 under today's service", () => {
  test("keeps its API key", () => {
    expect(service.apiKey).toBe("throw-away-key-of-the-0.1.0-fixture");
  });

  test.each([
    [
      "completed",
      { status: "COMPLETED", output: { text: "pong – “ü” \\ \n", numbers: [1, 2.5, -3e-7], nothing: null } },
    ],
    ["sync", { status: "COMPLETED", delayTime: 2, executionTime: 7, output: { text: "at once" } }],
    ["failed", { status: "FAILED", error: "Error: failed on purpose" }],
    ["crashed", { status: "FAILED", retries: 2, error: expect.stringContaining("crashed on purpose") }],
    ["timedOut", { status: "TIMED_OUT", executionTime: 5001, error: expect.stringContaining("executionTimeout") }],
    ["cancelled", { status: "CANCELLED", executionTime: 0 }],
    ["stopped", { status: "CANCELLED", workerId: "local-464c64fa519d" }],
    ["streamed", { status: "COMPLETED", output: [{ word: "one" }, { word: "two" }, "three", null, 4] }],
    ["streamRead", { status: "COMPLETED", output: [["a"], ["b"]] }],
    ["notified", { status: "COMPLETED", output: { text: "call me" } }],
  ] as const)("has the job that was %s as it was", async (name, record) => {
    expectAnswer(await status(jobs[name]), 200, { id: jobs[name], ...record });
  });

  test("has the stream chunks that nobody read, and not those that somebody did", async () => {
    const chunks = async (id: string): Promise<unknown> => {
      const { json } = await call("GET", objects.chat, `/stream/${id}`);
      return Array.isArray(json) ? json.map((chunk) => at(chunk, "output")) : json;
    };
    expect(await chunks(jobs.streamed)).toEqual([{ word: "one" }, { word: "two" }, "three", null, 4]);
    expect(await chunks(jobs.streamRead)).toEqual([]);
  });

  test("has every endpoint, template and volume with all that was set", async () => {
    expect((await rest("/endpoints")).json).toMatchObject([
      {
        id: objects.chat,
        name: "chat",
        templateId: objects.template,
        networkVolumeId: objects.volume,
        gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
        gpuCount: 2,
        dataCenterIds: ["EU-RO-1"],
        allowedCudaVersions: ["12.4"],
        idleTimeout: 3600,
        executionTimeoutMs: 900_000,
        flashboot: true,
        scalerType: "REQUEST_COUNT",
        scalerValue: 1,
        workersMin: 1,
        workersMax: 1,
        version: 2,
        createdAt: "2026-01-05T08:00:00.866Z",
      },
      { id: objects.elsewhere, name: "elsewhere", workersMax: 0, version: 2 },
      {
        id: objects.cpu,
        name: "cpu",
        computeType: "CPU",
        env: { MODE: "batch" },
        instanceIds: ["cpu3c-2-4"],
        modelReferences: ["https://models.example/acme/small"],
      },
    ]);
    expect((await rest("/templates")).json).toMatchObject([
      {
        id: objects.template,
        name: "chat",
        imageName: "acme/task:1",
        containerDiskInGb: 20,
        env: { MODEL: "mistral-7b", HUB_TOKEN: "{{ RUNPOD_SECRET_hub-token }}", LEVEL: "2" },
        ports: ["8888/http", "22/tcp"],
        readme: "Answers chats, briefly",
        isServerless: true,
      },
      {
        id: objects.notebook,
        name: "notebook",
        volumeInGb: 40,
        volumeMountPath: "/data",
        dockerStartCmd: ["--port", "8888", "a b"],
        env: { A: "" },
        isServerless: false,
      },
      { id: objects.released, name: "released" },
    ]);
    expect((await rest("/networkvolumes")).json).toMatchObject([
      { id: objects.volume, name: "models", size: 100, dataCenterId: "EU-RO-1" },
      { name: "models", size: 10, dataCenterId: "US-KS-2" },
    ]);
  });

  test("has its secrets and registry credentials", async () => {
    const query = "{ myself { secrets { name description createdAt } containerRegistryCreds { name } } }";
    const { json } = await send("POST", service.graphqlUrl, { key: service.apiKey, json: { query } });
    expect(at(json, "data", "myself")).toMatchObject({
      secrets: [
        { name: "hub-token", description: "Reads models" },
        { name: "spare", description: null },
      ],
      containerRegistryCreds: [{ name: "registry" }],
    });
  });

  test("counts what its jobs did before", async () => {
    const { json } = await call("GET", objects.chat, "/health");
    expect(at(json, "jobs", "completed")).toBeGreaterThanOrEqual(6);
    expect(at(json, "jobs")).toMatchObject({ failed: 4 });
    expect(at(json, "jobs", "retried")).toBeGreaterThanOrEqual(3);
  });

  test("keeps a template in use that an endpoint let go of a moment before", async () => {
    const url = `${service.baseUrl}/templates/${objects.released}`;
    const answer = await send("DELETE", url, { key: service.apiKey });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.text).toMatch(/can be deleted in \d+ s/);
  });

  test("runs what was queued or running, in the order of the queue, with the environment and s3Config of then", async () => {
    // The SHA-256 of the secret's value: the value itself is nobody's output.
    const outputOf = async (id: string): Promise<unknown> => at((await completed(id)).json, "output");
    const environment = { level: "2", token: "3860fe80" };
    const first = await outputOf(jobs.running);
    expect(first).toMatchObject({ text: "cut off", ...environment });
    expect(await status(jobs.running)).toMatchObject({ json: { retries: 1 } });
    const turns = [first];
    for (const id of [jobs.queued, jobs.low, jobs.again]) turns.push(await outputOf(id));
    expect(turns).toMatchObject([
      { turn: 1 },
      { turn: 2, text: "first", ...environment },
      { turn: 3, text: "low", bucket: "results" },
      { text: "once more" },
    ]);
    expect(await status(jobs.again)).toMatchObject({ json: { retries: 1 } });
  });

  test("lets workers elsewhere go on with the token that they have", async () => {
    const token = { authorization: `throw-away-token-of-${objects.elsewhere}` };
    const asWorker = (method: string, path: string, json?: object): Promise<Answer> =>
      send(method, `${service.serverlessUrl}/v2/${objects.elsewhere}${path}`, { headers: token, json });
    const hand = (id: string): Promise<Answer> =>
      asWorker("POST", `/job-done/gpu-box/${id}?gpu=x&isStream=false`, { output: { by: "gpu-box" } });
    // It outlived the service; whether its result still counts or it gets the job again, the job is not lost.
    await hand(jobs.takenElsewhere);
    const left = async (): Promise<number> => {
      const { json } = await call("GET", objects.elsewhere, "/health");
      return Number(at(json, "jobs", "inQueue")) + Number(at(json, "jobs", "inProgress"));
    };
    while ((await left()) > 0) {
      const taken = await asWorker("GET", "/job-take/gpu-box?gpu=x&job_in_progress=0");
      expectAnswer(taken, 200);
      expectAnswer(await hand(String(at(taken.json, "id"))), 200);
    }
    for (const id of [jobs.takenElsewhere, jobs.queuedElsewhere]) {
      expectAnswer(await status(id, objects.elsewhere), 200, { status: "COMPLETED", output: { by: "gpu-box" } });
    }
  });

  test("delivers the webhook that was tried before, and those of the jobs that ran now", async () => {
    await clock.leap(10_000);
    expect((await receiver.call("never")).json).toMatchObject({ id: jobs.notified, output: { text: "call me" } });
    await completed(jobs.queued);
    expect((await receiver.call("running")).json).toMatchObject({ id: jobs.running, status: "COMPLETED" });
    expect((await receiver.call("queued")).json).toMatchObject({ id: jobs.queued, status: "COMPLETED" });
  });

  test("ends jobs and results whose time is over", async () => {
    await clock.leap(60_000);
    expectAnswer(await status(jobs.short), 404);
    expectAnswer(await status(jobs.sync), 404);
    expectAnswer(await status(jobs.completed), 200);
    await clock.leap(30 * 60_000);
    expectAnswer(await status(jobs.completed), 404);
  });

  test("has the log of its workers", async () => {
    const log = await readFile(join(dataFolder, "logs", `${objects.chat}.log`), "utf8");
    expect(log).toContain("2026-01-05T08:00:");
    expect(log).toContain("crashed on purpose");
  });
});
