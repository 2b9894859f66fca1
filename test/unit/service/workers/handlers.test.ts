import { writeFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { type JobRig, type Jobs, useJobRig } from "../jobs/support/job-rig";
import { images, scratchFile, shortTimings } from "./support/programs";

let rig: JobRig;
let jobs: Jobs;
beforeEach(async () => {
  rig = await useJobRig({ images, timings: shortTimings });
  jobs = await rig.endpoint("tool");
});
const ended = async (input: object, more: object = {}) => jobs.reaches(await jobs.run(input, more));

describe("a handler file's default export", () => {
  test("receives the job, and its return value is the output", async () => {
    const s3Config = { bucketName: "b", objectPath: "clients/send/more" };
    const id = await jobs.run({ do: "echo", a: [1, null, "é"] }, { s3Config });
    expect(await jobs.reaches(id)).toMatchObject({
      status: "COMPLETED",
      output: { id, input: { do: "echo", a: [1, null, "é"] }, rest: { s3Config } },
    });
  });

  test("fails the job with message and stack trace of the handler if it throws", async () => {
    const job = await ended({ do: "throw" });
    expect(job).toMatchObject({
      status: "FAILED",
      error: expect.stringMatching(/TypeError: thrown on purpose\n\s+at .*tool\.mjs/),
    });
    expect(job).not.toHaveProperty("error", expect.stringMatching(/node-host|node:/));
    expect(job).not.toHaveProperty("output");
  });

  test("fails the job if it returns {error}", async () => {
    expect(await ended({ do: "error" })).toMatchObject({
      status: "FAILED",
      error: "failed in order",
      output: { partial: 1 },
    });
  });

  test("fails the job if its output is not a JSON value", async () => {
    expect(await ended({ do: "circle" })).toMatchObject({
      status: "FAILED",
      error: expect.stringContaining("not a JSON value"),
    });
  });

  test("may return nothing", async () => {
    expect(await ended({ do: "nothing" })).toMatchObject({ status: "COMPLETED", output: null });
  });

  test("is restarted in a new worker after {refresh_worker: true}", async () => {
    const refreshed = await ended({ do: "refresh" });
    expect(refreshed).toMatchObject({ status: "COMPLETED", output: { pid: expect.any(Number) } });
    expect(refreshed["output"]).not.toHaveProperty("refresh_worker");
    expect((await ended({ do: "pid" }))["workerId"]).not.toBe(refreshed["workerId"]);
  });
});

describe("a generator in TypeScript", () => {
  beforeEach(async () => {
    jobs = await rig.endpoint("counting");
  });

  test("streams its chunks, and its output is their list", async () => {
    const id = await jobs.run({ to: 3 });
    expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED", output: [1, 2, 3] });
    expect((await jobs.call("GET", `/stream/${id}`)).json).toMatchObject([{ output: 1 }, { output: 2 }, { output: 3 }]);
  });

  test("keeps the chunks yielded before it threw", async () => {
    const id = await jobs.run({ to: 3, failAt: 3 });
    expect(await jobs.reaches(id)).toMatchObject({ status: "FAILED", error: expect.stringContaining("failed at 3") });
    expect((await jobs.call("GET", `/stream/${id}`)).json).toMatchObject([{ output: 1 }, { output: 2 }]);
  });
});

describe("a job fails with a helpful message", () => {
  test("if its handler file has no default export", async () => {
    jobs = await rig.endpoint("no-default");
    const { status, error } = await ended({});
    expect(status).toBe("FAILED");
    for (const part of ["the default export must be a function", "no-default.mjs"]) expect(error).toContain(part);
  });

  test("if its command does not exist, or ends before it requests a job", async () => {
    const other = await useJobRig({
      images: {
        absent: "no-such-command-here --x",
        ends: `"${process.execPath}" -e "console.error(40+2); process.exit(7)"`,
      },
      timings: shortTimings,
    });
    const errors = await Promise.all(
      ["absent", "ends"].map(async (image) => {
        const on = await other.endpoint(image);
        return (await on.reaches(await on.run({})))["error"];
      }),
    );
    expect(errors[0]).toContain("no-such-command-here ENOENT");
    expect(errors[1]).toMatch(/ended with exit code 7, before it requested a job.*\n42$/s);
  });
});

describe("a handler that writes to its worker's pipe", () => {
  test("cannot end another job or receive a second one", async () => {
    const lines = ['{"ready":true}', '{"id":"nobody","output":1}', '{"id":5,"chunk":1}', '{"stop":"nobody"}'];
    const file = scratchFile();
    const ids = [await jobs.run({ do: "write", lines, file }), await jobs.run({ do: "wait", ms: 0 })];
    await jobs.reaches(ids[0] ?? "", "IN_PROGRESS");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await jobs.health()).jobs).toMatchObject({ inProgress: 1, inQueue: 1 });
    writeFileSync(file, "");
    expect(await jobs.reaches(ids[0] ?? "")).toMatchObject({ status: "COMPLETED", output: "written" });
    expect(await jobs.reaches(ids[1] ?? "")).toMatchObject({ status: "COMPLETED", output: "waited" });
  });

  test.each(["nonsense", "[]"])("fails its job with %s, and its worker is replaced", async (line) => {
    const failed = await ended({ do: "write", lines: [line], file: scratchFile() });
    expect(failed).toMatchObject({ status: "FAILED", error: expect.stringContaining("result was rejected") });
    expect((await ended({ do: "pid" }))["workerId"]).not.toBe(failed["workerId"]);
  });
});
