import { expect, test } from "vitest";
import type { JobApi } from "../../../support/job-api";
import { useSharedService } from "../../../support/local-service";
import { images, shortTimings } from "./support/programs";

const rig = await useSharedService({
  images: { ...images, absent: "no-such-command-here --x" },
  timings: shortTimings,
});
const tool = await rig.jobsOn("tool");
const endOf = async (jobs: JobApi, input: object) => jobs.reaches(await jobs.submit(input));
const ended = (input: object) => endOf(tool, input);

test("a handler receives the job, and its result or error ends the job", async () => {
  const s3Config = { bucketName: "b", objectPath: "clients/send/more" };
  // Longer than a part of the pipe.
  const input = { do: "echo", a: [1, null, "é".repeat(200_000)] };
  const id = await tool.submit(input, { s3Config });
  expect(await tool.reaches(id)).toMatchObject({
    status: "COMPLETED",
    output: { id, input, rest: { s3Config } },
  });
  expect(await ended({ do: "nothing" })).toMatchObject({ status: "COMPLETED", output: null });
  const failed = { status: "FAILED", error: "failed in order", output: { partial: 1 } };
  expect(await ended({ do: "error" })).toMatchObject(failed);
  const noJson = { status: "FAILED", error: expect.stringContaining("not a JSON value") };
  expect(await ended({ do: "circle" })).toMatchObject(noJson);
  const { error, ...thrown } = await ended({ do: "throw" });
  expect(thrown).toMatchObject({ status: "FAILED" });
  expect(thrown).not.toHaveProperty("output");
  expect(error, "message and stack of the handler only").toMatch(/^TypeError: thrown on purpose\n\s+at .*tool\.mjs/);
  expect(error).not.toMatch(/node-host|node:/);
});

test("the error and the log of a job that fails contain the causes of a thrown error", async () => {
  const { id, error } = await ended({ do: "throwWithCauses" });
  const causes = [
    /fetch failed\n/,
    /caused by AggregateError: no address works\n/,
    /caused by Error: no route to the model\n/,
  ];
  for (const text of [...causes, /caused by refused$/]) expect(error).toMatch(text);
  expect(error).not.toMatch(/node-host|node:/);
  await expect.poll(() => rig.workerLog(tool.id)).toContain(`job ${id} failed: Error: fetch failed`);
  for (const cause of causes) expect(await rig.workerLog(tool.id)).toMatch(cause);
});

test.each([
  ["text", "a text"],
  ["object", '{"code":5}'],
  ["list", "a"],
  ["plain", "[object Object]"],
  ["nothing", "undefined"],
])("a thrown value that is not an Error fails its job with the value's text: %s", async (what, error) => {
  expect(await ended({ do: "throwValue", what })).toMatchObject({ status: "FAILED", error });
});

test("the log of the workers contains a returned error, and the reason why an output is not JSON", async () => {
  const { id: returned } = await ended({ do: "error" });
  const { id: circle } = await ended({ do: "circle" });
  const log = () => rig.workerLog(tool.id);
  await expect.poll(log).toContain(`job ${returned} failed: failed in order`);
  await expect.poll(log).toContain(`job ${circle} failed: the handler's output is not a JSON value: TypeError`);
});

test.each(["NaN", "Infinity", "-Infinity"])(
  "a job whose output or chunk is %s fails, because JSON has no such number",
  async (text) => {
    const failed = (key: string) => ({
      status: "FAILED",
      error: `the handler's output is not a JSON value: TypeError: "${key}" is ${text}`,
    });
    const firstLine = ({ error, ...record }: Record<string, unknown>) => ({
      ...record,
      error: String(error).split("\n", 1)[0],
    });
    expect(firstLine(await ended({ do: "number", text }))).toMatchObject(failed("1"));
    expect(firstLine(await ended({ do: "stream", text }))).toMatchObject(failed("chunk"));
    expect(await ended({ do: "number", text: "5" })).toMatchObject({
      status: "COMPLETED",
      output: { list: [null, 5] },
    });
  },
);

test.each(["function", "symbol", "toJSON", "error", "chunk"])(
  "a job whose handler returns a value that JSON omits fails: %s",
  async (what) => {
    const error = expect.stringMatching(
      /^the handler's output is not a JSON value: TypeError: it is a function, a symbol/,
    );
    expect(await ended({ do: "omitted", what })).toMatchObject({ status: "FAILED", error });
  },
);

test("a handler is restarted in a new worker after {refresh_worker: true}", async () => {
  const refreshed = await ended({ do: "refresh" });
  expect(refreshed).toMatchObject({ status: "COMPLETED", output: { pid: expect.any(Number) } });
  expect(refreshed["output"]).not.toHaveProperty("refresh_worker");
  expect((await ended({ do: "pid" }))["workerId"]).not.toBe(refreshed["workerId"]);
});

test("a generator in TypeScript streams its chunks, and its output is their list, unless it throws", async () => {
  const jobs = await rig.jobsOn("counting");
  const chunksOf = async ({ id }: Record<string, unknown>) => (await jobs.call("GET", `/stream/${id}`)).json;
  const whole = await endOf(jobs, { to: 3 });
  expect(whole).toMatchObject({ status: "COMPLETED", output: [1, 2, 3] });
  expect(await chunksOf(whole)).toMatchObject([{ output: 1 }, { output: 2 }, { output: 3 }]);
  const thrown = await endOf(jobs, { to: 3, failAt: 3 });
  expect(thrown).toMatchObject({ status: "FAILED", error: expect.stringContaining("failed at 3") });
  expect(await chunksOf(thrown)).toMatchObject([{ output: 1 }, { output: 2 }]);
});

test.each([
  ["handler file has no default export", "no-default", /no-default\.mjs: the default export must be a function/],
  ["command does not exist", "absent", /no-such-command-here ENOENT/],
])("a job fails with the reason if its %s", async (_what, image, reason) => {
  expect(await endOf(await rig.jobsOn(image), {})).toMatchObject({
    status: "FAILED",
    error: expect.stringMatching(reason),
  });
});
