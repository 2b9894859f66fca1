import { expect, test } from "vitest";
import { OffsetClock } from "../../../support/offset-clock";
import { useRemoteEndpoint } from "./support/remote-worker";

test("a remote worker that runs a job during a restart of the service sends its result; the job runs once", async () => {
  const { rig, jobs, as } = await useRemoteEndpoint();
  const id = await jobs.submit({});
  expect((await as("far").take()).json).toMatchObject({ id });
  await rig.restart();
  expect(await jobs.reaches(id, "IN_PROGRESS")).toMatchObject({ workerId: "far" });
  expect((await jobs.health()).jobs).toMatchObject({ inProgress: 1, inQueue: 0 });
  // No other worker receives the job.
  expect((await as("other").take()).status).toBe(204);
  expect((await as("far").stream(id, { output: "half" })).status).toBe(200);
  expect((await as("far").done(id, { output: "whole" })).status).toBe(200);
  const record = await jobs.reaches(id);
  expect(record).toMatchObject({ status: "COMPLETED", output: "whole", workerId: "far" });
  expect(record).not.toHaveProperty("retries");
  expect((await jobs.call("GET", `/stream/${id}`)).json).toMatchObject([{ output: "half" }]);
});

test("a ping within returnGrace keeps the job, and resumes monitoring of the worker", async () => {
  const clock = new OffsetClock();
  const { rig, jobs, as } = await useRemoteEndpoint({
    timings: { returnGrace: 100_000, pingSilence: 200_000 },
    clock,
  });
  const id = await jobs.submit({});
  await as("far").take();
  await rig.restart();
  await as("far").ping(`job_id=${id}`);
  await clock.advance(150_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await jobs.reaches(id, "IN_PROGRESS");
  await clock.advance(50_000);
  await jobs.reaches(id, "IN_QUEUE");
});

test("a remote worker that does not return within returnGrace loses its job to the next worker, as interrupted", async () => {
  const { rig, jobs, as } = await useRemoteEndpoint({ timings: { returnGrace: 50 } });
  const id = await jobs.submit({});
  await as("far").take();
  for (let start = 1; start <= 3; start++) {
    await rig.restart();
    // The interruption is not counted as a crash; a third crash would fail the job.
    expect(await jobs.reaches(id, "IN_QUEUE")).toMatchObject({ retries: start });
    expect((await jobs.health()).workers).toMatchObject({ running: 0, idle: 0 });
    expect((await as("near").take()).json).toMatchObject({ id });
    await as("far").done(id, { output: "too late" });
    expect(await jobs.reaches(id, "IN_PROGRESS")).toMatchObject({ workerId: "near" });
  }
  await as("near").done(id, { output: "in time" });
  expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED", output: "in time", retries: 3 });
});

test("a worker that returns without its job loses it without a crash", async () => {
  const { rig, jobs, as } = await useRemoteEndpoint({ timings: { lostJob: 50 } });
  const id = await jobs.submit({});
  await as("far").take();
  for (let start = 1; start <= 3; start++) {
    await rig.restart();
    await expect.poll(async () => (await as("far").take("&job_in_progress=0")).json).toMatchObject({ id });
    expect(await jobs.reaches(id, "IN_PROGRESS")).toMatchObject({ retries: start });
  }
});

test("a worker that requests another job without a report about its jobs keeps them; a report of none loses them after a while", async () => {
  const clock = new OffsetClock();
  const { jobs, as } = await useRemoteEndpoint({ timings: { lostJob: 60_000, pingSilence: 600_000 }, clock });
  const id = await jobs.submit({});
  await as("far").take();
  expect((await as("far").take("&job_in_progress=0")).status).toBe(204);
  await clock.advance(60_000);
  for (const report of ["", "&job_in_progress=1"]) {
    expect((await as("far").take(report)).status).toBe(204);
    expect(await jobs.reaches(id, "IN_PROGRESS")).not.toHaveProperty("retries");
  }
  expect((await as("far").take("&job_in_progress=0")).json).toMatchObject({ id });
  expect(await jobs.reaches(id, "IN_PROGRESS")).toMatchObject({ retries: 1 });
});

test("a job that was cancelled before its worker returns is reported to the worker on its return", async () => {
  const { rig, jobs, as } = await useRemoteEndpoint({ timings: { stopGrace: 50 } });
  const id = await jobs.submit({});
  await as("far").take();
  await rig.restart();
  await jobs.call("POST", `/cancel/${id}`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await as("far").stops()).json).toEqual({ jobsToStop: [id] });
  await as("far").done(id, { output: "late" });
  expect(await jobs.reaches(id)).toMatchObject({ status: "CANCELLED" });
});

test("stopping the service does not wait for a worker that has not returned", async () => {
  const { rig, jobs, as } = await useRemoteEndpoint({ timings: { returnGrace: 600_000 } });
  await jobs.submit({});
  await as("far").take();
  await rig.restart();
  // Grace and deadline are longer than this test may take.
  await rig.stop(600_000);
});
