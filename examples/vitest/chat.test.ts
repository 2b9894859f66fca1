import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation/index.js";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { program } from "./program";

let folder: string;
let service: Service;
let stack: Stack;
let url: string;
let endpointId: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "chat-"));
  service = await createService({
    port: 0,
    ephemeral: true,
    runtime: "none",
    images: { "acme/chat:1": fileURLToPath(new URL("./handler.mjs", import.meta.url)) },
    // The hosted service keeps a template for two minutes and results for 30 minutes.
    templateRelease: 0,
    timings: { runRetention: 1000, sweep: 50 },
  });
  stack = await LocalWorkspace.createOrSelectStack(
    { stackName: "test", projectName: "chat", program },
    {
      workDir: folder,
      envVars: { PULUMI_BACKEND_URL: `file://${folder}`, PULUMI_CONFIG_PASSPHRASE: "only for tests" },
    },
  );
  await stack.setAllConfig({
    "serverless-compute:apiKey": { value: service.apiKey, secret: true },
    "serverless-compute:url": { value: service.url },
  });
  const { outputs } = await stack.up();
  url = outputs["url"]?.value;
  endpointId = outputs["endpointId"]?.value;
}, 120_000);

afterAll(async () => {
  await stack?.destroy();
  await service?.stop(0);
  await rm(folder, { recursive: true, force: true });
}, 120_000);

const call = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });

test("the endpoint greets", async () => {
  const response = await call("POST", "/runsync", { input: { name: "Ada" } });
  expect(await response.json()).toMatchObject({ status: "COMPLETED", output: { text: "Hello, Ada" } });
});

test("a client that retries survives two rejected requests", async () => {
  service.faults(endpointId, { tooManyRequests: 1, serverErrors: 1 });
  const statuses: number[] = [];
  do statuses.push((await call("POST", "/runsync", { input: { name: "Ada" } })).status);
  while (statuses.at(-1) !== 200);
  expect(statuses).toEqual([429, 500, 200]);
});

test("a result is gone after its retention", async () => {
  const { id } = Object(await (await call("POST", "/run", { input: { name: "Ada" } })).json());
  await expect.poll(async () => (await call("GET", `/status/${id}`)).status, { timeout: 10_000 }).toBe(404);
});
