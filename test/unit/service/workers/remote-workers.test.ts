import { expect, test } from "vitest";
import { readWorkerToken } from "../../../../service/workers/tokens";
import { useRemoteEndpoint } from "./support/remote-worker";

test("late requests of an ended local worker do not register it as a remote worker", async () => {
  const { jobs, as } = await useRemoteEndpoint();
  const id = await jobs.submit({});
  for (const request of [() => as("local-0123456789ab").take(), () => as("local-0123456789ab").ping("")])
    expect(await request()).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('ids of external workers must not begin with "local-"') },
    });
  await jobs.reaches(id, "IN_QUEUE");
  expect((await jobs.health()).workers).toMatchObject({ idle: 0, running: 0, ready: 0 });
});

test("a worker that requested its replacement returns under its id once all its jobs have ended", async () => {
  const { jobs, as } = await useRemoteEndpoint();
  const ids = [await jobs.submit({}), await jobs.submit({}), await jobs.submit({})];
  await as("w").take();
  await as("w").take();
  await as("w").done(ids[0] ?? "", { output: 1, stopPod: true });
  expect(await as("w").take(), "while it still runs a job").toMatchObject({ status: 204 });
  await as("w").done(ids[1] ?? "", { output: 2 });
  await expect.poll(async () => (await as("w").take()).json, { interval: 10 }).toMatchObject({ id: ids[2] });
  await as("w").done(ids[2] ?? "", { output: 3 });
  for (const id of ids) expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED", workerId: "w" });
  expect((await jobs.health()).jobs).toMatchObject({ completed: 3, retried: 0 });
});

test("a job whose worker was stopped before its start hooks ended returns to the queue, and does not count as a retry", async () => {
  const { jobs, as } = await useRemoteEndpoint();
  const id = await jobs.submit({});
  await as("w").take();
  const report = { event: "prestart_cancelled", error_type: "PrestartCancelled", error_message: "shutdown began" };
  expect((await as("w").done(id, { error: JSON.stringify(report) })).status).toBe(200);
  await jobs.reaches(id, "IN_QUEUE");
  await as("v").take();
  await as("v").done(id, { output: 1 });
  const record = await jobs.reaches(id);
  expect(record).toMatchObject({ status: "COMPLETED", workerId: "v", output: 1 });
  expect(record).not.toHaveProperty("retries");
});

test("a result that is not UTF-8, has a number that JSON does not have, or another content type fails its job with the reason", async () => {
  const { rig, jobs, as } = await useRemoteEndpoint();
  const authorization = readWorkerToken(rig.dataFolder, jobs.id) ?? "";
  const form = "application/x-www-form-urlencoded";
  const bodies = [
    [Buffer.from('{"output":"\xe9"}', "latin1"), form, "body: must be UTF-8 text"],
    [Buffer.from('{"output":[1, NaN]}'), form, "body: must be valid JSON, which does not have the value NaN"],
    [Buffer.from('{"output":-Infinity}'), form, "body: must be valid JSON, which does not have the value -Infinity"],
    [Buffer.from('{"output":1}'), "text/plain", "header Content-Type: must be application/json"],
  ] as const;
  for (const operation of ["job-done", "job-stream"])
    for (const [body, type, reason] of bodies) {
      const headers = { authorization, "content-type": type };
      const id = await jobs.submit({});
      await as("w").take();
      const url = `${rig.root}/v2/${jobs.id}/${operation}/w/${id}?gpu=x`;
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(400);
      const error = `the worker's result was rejected: ${reason}`;
      expect(await jobs.reaches(id)).toMatchObject({ status: "FAILED", error });
    }
});

test("/health counts a worker that reports itself unhealthy", async () => {
  const { jobs, as } = await useRemoteEndpoint();
  await jobs.submit({});
  await as("w").take();
  await as("w").ping("status=unhealthy&reason=gpu");
  expect((await jobs.health()).workers).toMatchObject({ unhealthy: 1, running: 0 });
});

test("a result that is invalid or too large fails its job, with the reason", async () => {
  const { jobs, as } = await useRemoteEndpoint();
  const megabytes = (count: number) => ({ output: "x".repeat(count * 1024 ** 2) });
  const tooLong = "more than the limit of 10485760 for /run; store it elsewhere";
  for (const [body, status, error] of [
    ["{output: NaN}", 400, "was rejected"],
    ["[1]", 400, "was rejected"],
    [megabytes(10), 200, tooLong],
    [{ status: "IN_PROGRESS", ...megabytes(10) }, 200, tooLong],
    [{ error: "its own error", ...megabytes(10) }, 200, "its own error"],
    [
      megabytes(22),
      413,
      "the worker's result was rejected: it has more than 22020096 bytes, and the limit of an output for /run is 10485760",
    ],
  ] as const) {
    const id = await jobs.submit({});
    await as("w").take();
    expect((await as("w").done(id, body)).status).toBe(status);
    const record = await jobs.reaches(id);
    expect(record).toMatchObject({ status: "FAILED", error: expect.stringContaining(error) });
    expect(record).not.toHaveProperty("output");
  }
});
