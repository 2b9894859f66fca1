import { rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import type { JobApi } from "../../../support/job-api";
import { useLocalService } from "../../../support/local-service";
import { OffsetClock } from "../../../support/offset-clock";
import { lockStore } from "../store/support/sqlite-file";
import { images, scratchFile, shortTimings } from "./support/programs";

const pidOf = async (jobs: JobApi): Promise<number> =>
  z.number().parse((await jobs.reaches(await jobs.submit({ do: "pid" })))["output"]);

test("a job fails with its third crash, again after /retry; /health contains the crash until a worker runs a job", async () => {
  const jobs = await (await useLocalService({ images, timings: shortTimings })).jobsOn("tool");
  const id = await jobs.submit({ do: "crash" });
  expect(await jobs.reaches(id, "FAILED")).toMatchObject({ retries: 2 });
  expect((await jobs.health()).message).toMatch(
    /^workers of the image "tool" crash: the last one ended with exit code 3 while it ran a job\nIts last lines:\nlast words/,
  );
  expect((await jobs.call("POST", `/retry/${id}`)).json).toEqual({ id, status: "IN_QUEUE" });
  expect(await jobs.reaches(id, "FAILED")).toMatchObject({ retries: 5 });
  await pidOf(jobs);
  expect(await jobs.health()).not.toHaveProperty("message");
});

test("a job whose result the store rejects is requeued every time, without counting as a crash", async () => {
  const file = scratchFile("end");
  const rig = await useLocalService({ images, timings: shortTimings });
  const jobs = await rig.jobsOn("tool");
  const id = await jobs.submit({ do: "waitForFile", file });
  for (let retries = 1; retries <= 3; retries++) {
    await jobs.reaches(id, "IN_PROGRESS");
    const unlock = lockStore(rig.dataFolder);
    writeFileSync(file, "");
    const ends = async () => (await rig.workerLog(jobs.id)).match(/was killed by SIGKILL/g)?.length;
    await expect.poll(ends).toBe(retries);
    expect((await jobs.health()).message).toContain("could not return a result (store is locked");
    rmSync(file);
    unlock();
    await expect
      .poll(async () => (await jobs.reaches(id, "IN_QUEUE", "IN_PROGRESS", "FAILED"))["retries"])
      .toBe(retries);
  }
  writeFileSync(file, "");
  expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED", retries: 3 });
});

test("an idle worker that dies is replaced only if there is a job", async () => {
  const clock = new OffsetClock();
  const jobs = await (await useLocalService({ images, timings: shortTimings, clock })).jobsOn("tool");
  const pid = await pidOf(jobs);
  process.kill(pid, "SIGKILL");
  const noWorkers = { idle: 0, running: 0, initializing: 0, throttled: 0 };
  await jobs.healthBecomes(({ workers }) => Object.keys(noWorkers).every((phase) => workers[phase] === 0));
  await clock.advance(4 * shortTimings.startBackoffMax);
  expect((await jobs.health()).workers).toMatchObject(noWorkers);
  expect(await pidOf(jobs)).not.toBe(pid);
});

test("/health reports a worker that does not request a job before it is stopped", async () => {
  const silent = { silent: `"${process.execPath}" -e "setInterval(() => {}, 1000)"` };
  const rig = await useLocalService({ images: silent, timings: { ...shortTimings, takeSilence: 50 } });
  const jobs = await rig.jobsOn("silent");
  await jobs.submit({});
  await jobs.healthBecomes(({ workers }) => workers["unhealthy"] === 1);
  expect((await jobs.health()).message).toMatch(
    /^workers of the image "silent" do not request jobs: local-\w+ has run for \d+ s; its program must take jobs, as the SDK's serverless\.start does$/,
  );
});
