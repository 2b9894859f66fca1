import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "serverless-compute-api/clock";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { isAlive } from "../../../../scripts/child.mjs";
import type { JobApi } from "../../../support/job-api";
import { useLocalService } from "../../../support/local-service";
import { OffsetClock } from "../../../support/offset-clock";
import { stringAt } from "../../../support/raw-http";
import { images, program, scratchFile, shortTimings } from "./support/programs";

const rigOf = (timings = {}, clock?: Clock) =>
  useLocalService({ images, timings: { ...shortTimings, ...timings }, ...(clock ? { clock } : {}) });
const pidOf = async (jobs: JobApi): Promise<number> =>
  z.number().parse((await jobs.reaches(await jobs.submit({ do: "pid" })))["output"]);
const contentOf = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

test("a running job that is cancelled is CANCELLED immediately; a handler that stops on abort keeps its worker", async () => {
  const rig = await rigOf({ stopGrace: 10_000 });
  const jobs = await rig.jobsOn("tool");
  const file = scratchFile();
  const id = await jobs.submit({ do: "waitForStop", file });
  const { workerId } = await jobs.reaches(id, "IN_PROGRESS");
  expect((await jobs.call("POST", `/cancel/${id}`)).json).toEqual({ id, status: "CANCELLED" });
  await expect.poll(() => contentOf(file), { interval: 10 }).toContain("was cancelled");
  expect(await jobs.reaches(await jobs.submit({ do: "echo" }))).toMatchObject({ status: "COMPLETED", workerId });
  expect(await jobs.reaches(id)).toMatchObject({ status: "CANCELLED" });
});

test("a running job that hangs ends at its ttl with its worker, and the next job runs on another", async () => {
  const clock = new OffsetClock();
  const rig = await rigOf({}, clock);
  const jobs = await rig.jobsOn("tool");
  const pid = await pidOf(jobs);
  const id = await jobs.submit({ do: "hang" }, { policy: { ttl: 60_000 } });
  await jobs.reaches(id, "IN_PROGRESS");
  await clock.advance(30_000);
  expect(await jobs.reaches(id, "IN_PROGRESS")).toMatchObject({ id });
  expect(isAlive(pid)).toBe(true);
  await clock.advance(30_001);
  await expect.poll(async () => (await jobs.call("GET", `/status/${id}`)).status).toBe(404);
  await expect.poll(() => isAlive(pid), { interval: 10 }).toBe(false);
  expect(await jobs.reaches(await jobs.submit({ do: "pid" }))).toMatchObject({ status: "COMPLETED" });
  expect((await jobs.health()).jobs).toMatchObject({ completed: 2, failed: 0, retried: 0, inProgress: 0 });
});

describe("the end of the service", () => {
  test("lets running jobs finish within the deadline", async () => {
    const rig = await rigOf();
    const jobs = await rig.jobsOn("tool");
    const file = scratchFile();
    const id = await jobs.submit({ do: "waitForFile", file });
    await jobs.reaches(id, "IN_PROGRESS");
    const restarted = rig.restart(15_000);
    writeFileSync(file, "");
    await restarted;
    expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED", output: expect.any(Number) });
    expect((await jobs.health()).jobs).toMatchObject({ completed: 1, retried: 0 });
  });

  test("abandons longer jobs: waiting clients receive the current state, and the next start runs the jobs again", async () => {
    const rig = await rigOf();
    const jobs = await rig.jobsOn("tool");
    const file = scratchFile();
    const waiting = jobs.call("POST", "/runsync", { input: { do: "waitForFile", file } });
    await jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 1);
    await rig.restart(50);
    const response = await waiting;
    expect(response).toMatchObject({ status: 200, json: { status: "IN_PROGRESS" } });
    writeFileSync(file, "");
    expect(await jobs.reaches(stringAt(response, "id"))).toMatchObject({ status: "COMPLETED", retries: 1 });
  });
});

test.each(["the end of the service", "a lower number of workers"])(
  "%s ends workers that ignore SIGTERM",
  async (cause) => {
    const file = scratchFile();
    const stays = `"${process.execPath}" "${program("stays.mjs")}" "${file}"`;
    const rig = await useLocalService({ images: { stays }, timings: shortTimings });
    const { id } = await rig.jobsOn("stays", { workersMin: 1 });
    await expect.poll(() => Number(contentOf(file)), { interval: 10 }).toBeGreaterThan(0);
    if (cause === "the end of the service") await rig.stop();
    else await rig.rest("PATCH", `/endpoints/${id}`, { workersMin: 0, workersMax: 0 });
    await expect.poll(() => isAlive(Number(contentOf(file))), { interval: 10 }).toBe(false);
  },
);

test("a deleted endpoint leaves no job, worker, log or folder, and its waiting clients receive a response", async () => {
  const rig = await rigOf({ stopGrace: 600_000 });
  const jobs = await rig.jobsOn("tool");
  const pid = await pidOf(jobs);
  const waiting = jobs.call("POST", "/runsync", { input: { do: "hang" } });
  await jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 1);
  await rig.rest("DELETE", `/endpoints/${jobs.id}`);
  expect((await waiting).status).toBe(404);
  expect((await jobs.call("GET", "/health")).status).toBe(404);
  await expect.poll(() => isAlive(pid), { interval: 10 }).toBe(false);
  const remaining = (): string[] =>
    ["logs", "workers"].flatMap((name) => {
      const folder = join(rig.dataFolder, name);
      return existsSync(folder) ? readdirSync(folder) : [];
    });
  await expect.poll(remaining, { interval: 10 }).toEqual([]);
});
