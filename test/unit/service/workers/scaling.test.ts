import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LeapingClock } from "../../../support/leaping-clock";
import { type RigOptions, useJobRig } from "../jobs/support/job-rig";
import { images, scratchFile, shortTimings } from "./support/programs";

const rigOf = (options: RigOptions = {}) => useJobRig({ images, timings: shortTimings, ...options });
const eager = { scalerType: "REQUEST_COUNT", scalerValue: 1 };

test("workersMin workers run before any job, and workersMax limits concurrent jobs", async () => {
  const rig = await rigOf();
  const jobs = await rig.endpoint("tool", { ...eager, workersMin: 1, workersMax: 2 });
  await jobs.healthBecomes(({ workers }) => workers["ready"] === 1);
  const file = scratchFile();
  const ids = await Promise.all(Array.from({ length: 3 }, () => jobs.run({ do: "waitForFile", file })));
  await jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 2 && jobs["inQueue"] === 1);
  writeFileSync(file, "");
  const pids = await Promise.all(ids.map(async (id) => (await jobs.reaches(id))["output"]));
  expect(new Set(pids).size).toBe(2);
});

test("an idle worker ends after idleTimeout, and not before", async () => {
  const clock = new LeapingClock();
  const rig = await rigOf({ clock });
  const jobs = await rig.endpoint("tool", { idleTimeout: 3600 });
  await jobs.reaches(await jobs.run({ do: "echo" }));
  await clock.leap(3_000_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await jobs.health()).workers).toMatchObject({ idle: 1 });
  await clock.leap(600_000);
  await jobs.healthBecomes(({ workers }) => workers["idle"] === 0);
});

test("a job of low priority starts no worker, and runs on the next one", async () => {
  const rig = await rigOf();
  const jobs = await rig.endpoint("tool");
  const low = await jobs.run({ do: "echo" }, { policy: { lowPriority: true } });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await jobs.health()).workers).toMatchObject({ initializing: 0, running: 0, idle: 0 });
  await jobs.run({ do: "echo" });
  expect(await jobs.reaches(low)).toMatchObject({ status: "COMPLETED" });
});

/** An endpoint with a running job, whose template has changed since. */
async function changedWhileRunning(workersMax: number) {
  const rig = await rigOf();
  const jobs = await rig.endpoint("tool", { ...eager, workersMax, idleTimeout: 600 }, { env: { COLOUR: "red" } });
  const file = scratchFile();
  const running = await jobs.run({ do: "waitForFile", file });
  const { workerId } = await jobs.reaches(running, "IN_PROGRESS");
  const templateId = (await rig.rest("GET", `/endpoints/${jobs.id}`)).text("templateId");
  await rig.rest("PATCH", `/templates/${templateId}`, { env: { COLOUR: "blue" } });
  const next = await jobs.run({ do: "env" });
  return { jobs, running, next, workerId, finish: () => writeFileSync(file, "") };
}

test("a changed template replaces workers: the running job ends on the old one, the next runs on a new one", async () => {
  const { jobs, running, next, workerId, finish } = await changedWhileRunning(2);
  expect(await jobs.reaches(next)).toMatchObject({ status: "COMPLETED", output: { COLOUR: "blue" } });
  expect(await jobs.reaches(running, "IN_PROGRESS")).toMatchObject({ workerId });
  finish();
  expect(await jobs.reaches(running)).toMatchObject({ status: "COMPLETED", workerId });
  await jobs.healthBecomes(({ workers }) => workers["idle"] === 1 && workers["running"] === 0);
});

test("the new worker of a changed template waits for the old one's end if workersMax has no room for both", async () => {
  const { jobs, running, next, workerId, finish } = await changedWhileRunning(1);
  for (let look = 0; look < 10; look++) {
    expect((await jobs.health()).workers).toMatchObject({ running: 1, idle: 0, initializing: 0 });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await jobs.reaches(next, "IN_QUEUE");
  finish();
  expect(await jobs.reaches(running)).toMatchObject({ status: "COMPLETED", workerId });
  expect(await jobs.reaches(next)).toMatchObject({ status: "COMPLETED", output: { COLOUR: "blue" } });
});

test("workersMax 0 lets busy workers finish and starts none", async () => {
  const rig = await rigOf();
  const jobs = await rig.endpoint("tool");
  const file = scratchFile();
  const running = await jobs.run({ do: "waitForFile", file });
  await jobs.reaches(running, "IN_PROGRESS");
  await rig.rest("PATCH", `/endpoints/${jobs.id}`, { workersMin: 0, workersMax: 0 });
  const waiting = await jobs.run({ do: "echo" });
  writeFileSync(file, "");
  expect(await jobs.reaches(running)).toMatchObject({ status: "COMPLETED" });
  await jobs.healthBecomes(({ workers }) => workers["idle"] === 0 && workers["running"] === 0);
  expect(await jobs.reaches(waiting, "IN_QUEUE")).toMatchObject({ status: "IN_QUEUE" });
});

test("a deleted endpoint leaves no job, worker, log or folder, and its waiting clients get a response", async () => {
  const rig = await rigOf();
  const jobs = await rig.endpoint("tool");
  const waiting = jobs.call("POST", "/runsync", { input: { do: "wait", ms: 60_000 } });
  await jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 1);
  await rig.rest("DELETE", `/endpoints/${jobs.id}`);
  expect((await waiting).status).toBe(404);
  expect((await jobs.call("GET", "/health")).status).toBe(404);
  const left = (): string[] =>
    ["logs", "workers"].flatMap((name) => {
      const folder = join(rig.dataFolder, name);
      return existsSync(folder) ? readdirSync(folder) : [];
    });
  await expect.poll(left, { interval: 10 }).toEqual([]);
});
