import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { at, expectAnswer, send, stringAt } from "../../../support/raw-http";
import { startLoad, tally } from "../../../support/steady-load";
import { startService, useFolder } from "../cli/command";
import { useRollingEndpoint } from "./support/rolling";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const folder = await useFolder();

test("a second change during a rollout continues from there: the oldest workers run jobs until the newest can", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 3, workersMax: 3 });
  const load = startLoad(endpoint.call);
  await endpoint.answersFrom("1");
  await endpoint.deploy({ VERSION: "2", BREAKS: "silence" });
  await expect.poll(() => endpoint.versions()).toContain(2);
  await endpoint.deploy({ VERSION: "3" });
  await endpoint.rolledOut(3);
  await load.answeredBy("3");
  expect(tally(await load.stop())).toEqual({ "COMPLETED 1": expect.any(Number), "COMPLETED 3": expect.any(Number) });
  expect(endpoint.most()).toBeLessThanOrEqual(3);
  await expect.poll(() => endpoint.workers()).toHaveLength(3);
});

test("workers of a version that completed jobs finish theirs after a rollback", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 1, workersMax: 2 });
  await endpoint.answersFrom("1");
  await endpoint.deploy({ VERSION: "2" });
  await endpoint.answersFrom("2");
  await endpoint.rolledOut(2);
  const long = await endpoint.longJob();
  await endpoint.deploy({ VERSION: "1" });
  await endpoint.answersFrom("1");
  long.finish();
  expect(await long.record()).toMatchObject({ status: "COMPLETED", output: { version: "2" } });
  expect((await endpoint.call("GET", "/health")).json).toMatchObject({ jobs: { retried: 0 } });
});

test("a change of the workers' hardware replaces them within the same version", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 2, workersMax: 2 });
  await endpoint.answersFrom("1");
  await expect.poll(() => endpoint.phases("IDLE")).toBe(2);
  // None of the old workers can end before its job does.
  const running = [await endpoint.longJob(), await endpoint.longJob()];
  const load = startLoad(endpoint.call);
  const before = (await endpoint.workers()).map(({ id }) => id);
  await endpoint.change({ gpuTypeIds: ["NVIDIA A40"] });
  expect((await endpoint.v2("/releases")).json).toMatchObject({
    endpointVersion: 1,
    rollout: { inProgress: true, workersOnLatest: 0, percentOnLatest: 0 },
  });
  for (const { finish } of running) finish();
  await endpoint.rolledOut(1);
  expect((await endpoint.workers()).filter(({ id }) => before.includes(id))).toEqual([]);
  expect(tally(await load.stop())).toEqual({ "COMPLETED 1": expect.any(Number) });
});

test("a service that is killed during a rollout continues with the new version, and no job is lost", async () => {
  const data = join(folder, "data");
  const file = fileURLToPath(new URL("../../../support/handlers/versioned.mjs", import.meta.url));
  const flags = ["--image", `versioned=${file}`];
  const first = await startService(data, ...flags);
  let { addresses } = first;
  const { apiKey: key } = first;
  const rest = (method: string, path: string, json: object) =>
    send(method, `${addresses.baseUrl}${path}`, { key, json });
  const made = async (path: string, json: object) => stringAt(await rest("POST", path, json), "id");
  const template = { name: "rolling", imageName: "versioned", isServerless: true, env: { VERSION: "1" } };
  const templateId = await made("/templates", template);
  const id = await made("/endpoints", { name: "rolling", templateId, workersMin: 2, workersMax: 2 });
  const job = (method: string, path: string, json?: object) =>
    send(method, `${addresses.serverlessUrl}/v2/${id}${path}`, { key, json });
  const run = async () => stringAt(await job("POST", "/run", { input: { ms: 50 } }), "id");
  expectAnswer(await job("POST", "/runsync", { input: {} }), 200, { output: { version: "1" } });
  await rest("PATCH", `/templates/${templateId}`, { env: { VERSION: "2" } });
  const ids = await Promise.all(Array.from({ length: 20 }, run));
  first.child.kill("SIGKILL");
  await first.ended;
  const second = await startService(data, ...flags);
  addresses = second.addresses;
  for (const jobId of ids) {
    const state = async () => at((await job("GET", `/status/${jobId}`)).json, "status");
    await expect.poll(state, { timeout: 20_000 }).toBe("COMPLETED");
  }
  const shown = await send("GET", `${addresses.serverlessUrl}/v2/serverless/${id}/workers`, { key });
  expectAnswer(shown, 200, { endpointVersion: 2 });
  const workers = at(shown.json, "workers");
  expect(workers).toEqual([
    expect.objectContaining({ version: 2, isStale: false }),
    expect.objectContaining({ version: 2, isStale: false }),
  ]);
  second.child.kill("SIGTERM");
  await second.ended;
});
