import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Answer, type JobRig, type Jobs, useJobRig } from "../jobs/support/job-rig";
import { images, shortTimings } from "./support/programs";

/** Workers that the service did not start: raw calls with the endpoint's token. */
const timings = {
  ...shortTimings,
  takeHold: 200,
  secondLook: 50,
  lostJob: 200,
  stopGrace: 300,
};

let rig: JobRig;
let jobs: Jobs;
let token: Record<string, string>;
/** Id of a worker that the service started and ended. */
let startedHere: string;
beforeEach(async () => {
  rig = await useJobRig({ images, timings });
  jobs = await rig.endpoint("tool");
  const { output, workerId } = await jobs.reaches(await jobs.run({ do: "env" }));
  startedHere = String(workerId);
  token = { authorization: z.record(z.string(), z.string()).parse(output)["RUNPOD_AI_API_KEY"] ?? "" };
  await rig.rest("PATCH", `/endpoints/${jobs.id}`, { workersMin: 0, workersMax: 0 });
  await jobs.healthBecomes(({ workers }) => workers["idle"] === 0);
});
const as = (worker: string) => ({
  take: (query = ""): Promise<Answer> => jobs.call("GET", `/job-take/${worker}?gpu=x${query}`, undefined, token),
  done: (id: string, body: unknown) => jobs.call("POST", `/job-done/${worker}/${id}?gpu=x&isStream=false`, body, token),
  ping: (query = "") => jobs.call("GET", `/ping/${worker}?runpod_version=1.12.0${query}`, undefined, token),
  stops: () => jobs.call("GET", `/job-stop/${worker}?gpu=x`, undefined, token),
});

test("a worker that a service started and ended does not join with its last requests", async () => {
  // workersMax 0 ended the worker whose token this is.
  const ended = startedHere;
  expect(ended).toMatch(/^local-/);
  const id = await jobs.run({});
  for (const worker of [ended, "local-0123456789ab"]) {
    expect(await as(worker).take()).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('ids of external workers must not begin with "local-"') },
    });
    expect((await as(worker).ping()).status).toBe(400);
  }
  await jobs.reaches(id, "IN_QUEUE");
  expect((await jobs.health()).workers).toMatchObject({ idle: 0, running: 0, ready: 0 });
});

test("a repeated result counts once", async () => {
  const before = (await jobs.health()).jobs["completed"] ?? 0;
  const id = await jobs.run({});
  await as("w").take();
  expect((await as("w").done(id, { output: 1 })).status).toBe(200);
  expect((await as("w").done(id, { output: 2 })).status).toBe(200);
  expect(await jobs.reaches(id)).toMatchObject({ output: 1 });
  expect((await jobs.health()).jobs).toMatchObject({ completed: before + 1 });
});

test("a job whose worker disconnected before the response goes to the next one, uncounted", async () => {
  const gone = new AbortController();
  const left = fetch(`${rig.root}/v2/${jobs.id}/job-take/gone?gpu=x`, { headers: token, signal: gone.signal }).catch(
    () => undefined,
  );
  await jobs.healthBecomes(({ workers }) => workers["ready"] === 1);
  gone.abort();
  await left;
  const id = await jobs.run({});
  await expect.poll(async () => (await as("here").take()).json, { interval: 10 }).toMatchObject({ id });
  await as("here").done(id, {});
  const record = await jobs.reaches(id);
  expect(record).toMatchObject({ status: "COMPLETED" });
  expect(record).not.toHaveProperty("retries");
  expect(record).not.toHaveProperty("output");
});

describe("a cancelled job", () => {
  test("is reported to its worker on request, also to a waiting one", async () => {
    const first = await jobs.run({});
    await as("w").take();
    await jobs.call("POST", `/cancel/${first}`);
    expect((await as("w").stops()).json).toEqual({ jobsToStop: [first] });
    await as("w").take("&job_in_progress=0");
    const waiting = as("w").stops();
    const second = await jobs.run({});
    await as("w").take();
    await jobs.call("POST", `/cancel/${second}`);
    expect((await waiting).json).toEqual({ jobsToStop: [second] });
  });

  test("turns its worker into an unknown one if it continues", async () => {
    const id = await jobs.run({});
    await as("w").take();
    await jobs.call("POST", `/cancel/${id}`);
    await jobs.healthBecomes(({ workers }) => workers["running"] === 0);
    expect(await jobs.reaches(id)).toMatchObject({ status: "CANCELLED" });
  });
});

test("/status contains the progress, and /health a worker that reports itself unhealthy", async () => {
  const id = await jobs.run({});
  await as("w").take();
  await as("w").done(id, { status: "IN_PROGRESS", output: { half: true } });
  expect(await jobs.reaches(id, "IN_PROGRESS")).toMatchObject({ output: { half: true } });
  await as("w").ping("&status=unhealthy&reason=gpu");
  expect((await jobs.health()).workers).toMatchObject({ unhealthy: 1, running: 0 });
});

test.each([
  ["no JSON", "{output: NaN}"],
  ["no object", "[1]"],
])("a result that is %s fails its job", async (_what, body) => {
  const id = await jobs.run({});
  await as("w").take();
  expect((await as("w").done(id, body)).status).toBe(400);
  expect(await jobs.reaches(id)).toMatchObject({ status: "FAILED", error: expect.stringContaining("was rejected") });
});

test("a result of /run above 10 MB fails its job with that reason", async () => {
  const id = await jobs.run({});
  await as("w").take();
  await as("w").done(id, { output: "x".repeat(10 * 1024 * 1024) });
  expect(await jobs.reaches(id)).toMatchObject({
    status: "FAILED",
    error: expect.stringContaining("more than the limit of 10485760 for /run; store it elsewhere"),
  });
  const other = await jobs.run({});
  await as("w").take();
  expect((await as("w").done(other, { output: "x".repeat(22 * 1024 * 1024) })).status).toBe(413);
  expect(await jobs.reaches(other)).toMatchObject({ status: "FAILED", error: expect.stringContaining("rejected") });
});
