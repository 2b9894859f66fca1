import { describe, expect, test } from "vitest";
import { kinds } from "../../../../provider/resources";
import { pollInterval } from "../../../../provider/resources/job-invoke/run";
import { type Behaviour, json } from "../../../support/faulty-server";
import { naming } from "../../../support/naming";
import { startScriptedJobs } from "../../../support/scripted-service";

const { JobInvoke } = kinds;

/** Starts an API whose job ends `length` ms after its submission and is queued for the first `queued` ms. */
async function startJob(length: number, queued = 0) {
  const record = (status: string): Behaviour => json({ id: "j1", status });
  const statusTimes: number[] = [];
  const api = await startScriptedJobs({
    run: () => record("IN_QUEUE"),
    runsync: () => record("IN_QUEUE"),
    status: () => {
      const now = api.clock.now();
      statusTimes.push(now);
      return record(now >= length ? "COMPLETED" : now >= queued ? "IN_PROGRESS" : "IN_QUEUE");
    },
    health: () => json({ jobs: { inQueue: 1 }, workers: { initializing: 1 }, message: "pulling the image" }),
  });
  return { ...api, statusTimes };
}

const inputsOf = (mode: "async" | "sync") =>
  JobInvoke.check({}, { endpointId: "e1", input: {}, mode, timeout: 4000 }, naming()).inputs;
const inputs = inputsOf("async");

/** Times of the polls of a job until `end`, ms after its submission; requests take no time. */
function pollTimes(mode: "async" | "sync", end: number): number[] {
  const times = [0];
  for (let time = 0; time < end; times.push(time)) time += pollInterval(time, mode);
  return times;
}

describe("the delay between a job's end and the poll that detects it", () => {
  test.each([
    { mode: "async", seconds: 1, limit: 250 },
    { mode: "async", seconds: 10, limit: 400 },
    { mode: "async", seconds: 60, limit: 400 },
    { mode: "async", seconds: 600, limit: 500 },
    { mode: "async", seconds: 3600, limit: 2000 },
    { mode: "sync", seconds: 3, limit: 75 },
    { mode: "sync", seconds: 10, limit: 400 },
  ] as const)("$mode job of $seconds s: at most $limit ms", ({ mode, seconds, limit }) => {
    const times = pollTimes(mode, seconds * 1000);
    const delays = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.max(...delays)).toBeLessThanOrEqual(limit);
  });

  test("an hour takes fewer than 4000 polls", () => {
    expect(pollTimes("async", 3_600_000).length).toBeLessThan(4000);
  });

  test.each(["async", "sync"] as const)("a job is polled at these times (%s)", async (mode) => {
    const { context, statusTimes } = await startJob(10_000);
    await JobInvoke.create(inputsOf(mode), context);
    expect(statusTimes).toEqual(pollTimes(mode, 10_000).slice(1));
  });
});

describe("progress lines do not exceed those of polls every 2 s", () => {
  test.each([
    { seconds: 1, limit: 4 },
    { seconds: 10, limit: 10 },
    { seconds: 60, limit: 35 },
  ])("for a job of $seconds s: at most $limit", async ({ seconds, limit }) => {
    for (const queued of [0, seconds * 300]) {
      const { context, messages } = await startJob(seconds * 1000, queued);
      await JobInvoke.create(inputs, context);
      expect(messages.length).toBeLessThanOrEqual(limit);
      // Progress is still reported.
      expect(messages.length).toBeGreaterThan(seconds / 3);
    }
  });

  test("a changed status and the reason for missing workers are reported by the poll that finds them", async () => {
    const { context, messages } = await startJob(30_000, 20_300);
    await JobInvoke.create(inputs, context);
    const firstWith = (text: string): string | undefined => messages.find((line) => line.includes(text));
    expect(firstWith("pulling the image")).toBe("job j1 IN_QUEUE: 5 s of at most 4000 s; pulling the image");
    expect(firstWith("IN_PROGRESS")).toMatch(/^job j1 IN_PROGRESS: 2[01] s of at most 4000 s$/);
    expect(messages.at(-1)).toBe("job j1 COMPLETED");
  });
});
