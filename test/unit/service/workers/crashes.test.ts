import { readFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { LeapingClock } from "../../../support/leaping-clock";
import { type JobRig, type Jobs, useJobRig } from "../jobs/support/job-rig";
import { images, isAlive, program, scratchFile, shortTimings } from "./support/programs";

let rig: JobRig;
let jobs: Jobs;
beforeEach(async () => {
  rig = await useJobRig({ images, timings: shortTimings });
  jobs = await rig.endpoint("tool");
});
const pidOf = async (on: Jobs): Promise<number> =>
  z.number().parse((await on.reaches(await on.run({ do: "pid" })))["output"]);

test("/retry resets the crash count of a job", async () => {
  const id = await jobs.run({ do: "crash" });
  await jobs.reaches(id, "FAILED");
  expect((await jobs.call("POST", `/retry/${id}`)).json).toEqual({ id, status: "IN_QUEUE" });
  expect(await jobs.reaches(id, "FAILED")).toMatchObject({ retries: 5 });
});

test("an idle worker that dies is replaced only if there is a job", async () => {
  const pid = await pidOf(jobs);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isAlive(pid), { interval: 10 }).toBe(false);
  const nobody = { idle: 0, running: 0, initializing: 0, throttled: 0 };
  await jobs.healthBecomes(({ workers }) => Object.keys(nobody).every((phase) => workers[phase] === 0));
  // Longer than any wait before the next start.
  await new Promise((resolve) => setTimeout(resolve, 4 * shortTimings.startBackoffMax));
  expect((await jobs.health()).workers).toMatchObject(nobody);
  expect(await pidOf(jobs)).not.toBe(pid);
});

test("child processes of a worker end with it", async () => {
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
  await expect.poll(child).toBeGreaterThan(0);
  expect(isAlive(child())).toBe(true);
  await other.stop();
  await expect.poll(() => isAlive(child()), { interval: 10 }).toBe(false);
});

test("the wait before the next worker doubles with each crash and counts as throttled", async () => {
  const clock = new LeapingClock();
  const startBackoff = 600_000;
  const timings = { ...shortTimings, startBackoff, startBackoffMax: 10 * startBackoff };
  const slow = await useJobRig({ images, timings, clock });
  const on = await slow.endpoint("tool");
  const id = await on.run({ do: "crash" });
  const waits = (crashes: number) =>
    on.healthBecomes(({ jobs, workers }) => {
      const isWaiting = jobs["inQueue"] === 1 && jobs["inProgress"] === 0 && workers["throttled"] === 1;
      return isWaiting && jobs["retried"] === crashes;
    });
  await waits(1);
  await clock.leap(startBackoff - 100_000);
  await waits(1);
  await clock.leap(100_000);
  await waits(2);
  // The first wait is no longer sufficient.
  await clock.leap(2 * startBackoff - 100_000);
  await waits(2);
  await clock.leap(100_000);
  expect(await on.reaches(id)).toMatchObject({ status: "FAILED", retries: 2 });
});
