import { readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { type JobRig, type Jobs, useJobRig } from "../jobs/support/job-rig";
import { images, isAlive, program, scratchFile, shortTimings } from "./support/programs";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 30_000 });

let rig: JobRig;
let jobs: Jobs;
beforeEach(async () => {
  rig = await useJobRig({ images, timings: shortTimings });
  jobs = await rig.endpoint("tool");
});
const pidOf = async (on: Jobs): Promise<number> =>
  z.number().parse((await on.reaches(await on.run({ do: "pid" })))["output"]);

test("a job whose worker is killed is queued again and completes with the next one", async () => {
  const job = await jobs.reaches(await jobs.run({ do: "crashOnce", file: scratchFile() }));
  expect(job).toMatchObject({ status: "COMPLETED", output: "second time", retries: 1 });
  expect((await jobs.health()).jobs).toMatchObject({ completed: 1, failed: 0, retried: 1 });
});

test("a job whose workers crash three times is FAILED with how they ended and the last lines of stderr", async () => {
  const job = await jobs.reaches(await jobs.run({ do: "crash" }));
  expect(job).toMatchObject({ status: "FAILED", retries: 2 });
  expect(job["error"]).toMatch(/ended with exit code 3 while it ran the job.*\nlast words/s);
  expect((await jobs.health()).jobs).toMatchObject({ completed: 0, failed: 1, retried: 2 });
});

test("/retry gives a crashed job its chances again", async () => {
  const id = await jobs.run({ do: "crash" });
  await jobs.reaches(id, "FAILED");
  expect((await jobs.call("POST", `/retry/${id}`)).json).toEqual({ id, status: "IN_QUEUE" });
  expect(await jobs.reaches(id, "FAILED")).toMatchObject({ retries: 5 });
});

test("an idle worker that dies is replaced only when there is something to do", async () => {
  process.kill(await pidOf(jobs), "SIGKILL");
  await jobs.healthBecomes(({ workers }) => workers["idle"] === 0);
  expect(await jobs.reaches(await jobs.run({ do: "echo" }))).toMatchObject({ status: "COMPLETED" });
});

test("what a worker started ends with it", async () => {
  const file = scratchFile();
  const command = `"${process.execPath}" -e "require('child_process').spawn(process.execPath, ['${program("stays.mjs")}', '${file}']); setInterval(() => {}, 1000)"`;
  const other = await useJobRig({ images: { parent: command }, timings: shortTimings });
  await other.endpoint("parent", { workersMin: 1 });

  const child = (): number => {
    try {
      return Number(readFileSync(file, "utf8"));
    } catch {
      return 0;
    }
  };
  await expect.poll(child, { timeout: 10_000, interval: 20 }).toBeGreaterThan(0);
  await other.stop();
  await expect.poll(() => isAlive(child()), { interval: 10 }).toBe(false);
});

test("workers that crash again and again wait longer and longer, and count as throttled", async () => {
  const slow = await useJobRig({ images, timings: { ...shortTimings, startBackoff: 60_000, startBackoffMax: 60_000 } });
  const on = await slow.endpoint("tool");
  await on.run({ do: "crash" });
  await on.healthBecomes(({ jobs, workers }) => jobs["inQueue"] === 1 && workers["throttled"] === 1);
});
