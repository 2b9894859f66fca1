import { describe, expect, test } from "vitest";
import { kinds } from "../../../../provider/resources";
import { type Behaviour, json } from "../../../support/faulty-server";
import { naming } from "../../../support/naming";
import { startScriptedJobs } from "../../../support/scripted-service";

const { JobInvoke } = kinds;

/** Starts an API whose job ends `length` ms after its submission and is queued for the first `queued` ms. */
async function startJob(length: number, queued = 0) {
  const record = (status: string): Behaviour => json({ id: "j1", status });
  const api = await startScriptedJobs({
    run: () => record("IN_QUEUE"),
    runsync: () => record("IN_QUEUE"),
    status: () =>
      record(api.clock.now() >= length ? "COMPLETED" : api.clock.now() >= queued ? "IN_PROGRESS" : "IN_QUEUE"),
    health: () => json({ jobs: { inQueue: 1 }, workers: { initializing: 1 }, message: "pulling the image" }),
  });
  const polls = (): number => api.calls.filter((call) => call === "status").length;
  return { ...api, polls, lag: (): number => api.clock.now() - length };
}

const inputsOf = (mode: "async" | "sync") =>
  JobInvoke.check({}, { endpointId: "e1", input: {}, mode, timeout: 4000 }, naming()).inputs;
const inputs = inputsOf("async");

describe("the delay between a job's end and the poll that detects it", () => {
  test.each([
    { mode: "async", seconds: 1, limit: 250, jobs: 15 },
    { mode: "async", seconds: 10, limit: 400, jobs: 15 },
    { mode: "async", seconds: 60, limit: 400, jobs: 9 },
    { mode: "async", seconds: 600, limit: 500, jobs: 3 },
    { mode: "sync", seconds: 3, limit: 75, jobs: 15 },
    { mode: "sync", seconds: 10, limit: 400, jobs: 15 },
  ] as const)(
    "$mode job of $seconds s: at most $limit ms, with a median of about half",
    async ({ mode, seconds, limit, jobs }) => {
      const delays: number[] = [];
      for (let at = 0; at < jobs; at++) {
        // The ends are spread over one poll interval, so that no schedule matches them by chance.
        const { context, lag } = await startJob(seconds * 1000 + (limit * (at + 0.5)) / jobs);
        await JobInvoke.create(inputsOf(mode), context);
        delays.push(lag());
      }
      delays.sort((a, b) => a - b);
      expect(delays.at(0)).toBeGreaterThanOrEqual(0);
      expect(delays.at(-1)).toBeLessThanOrEqual(limit);
      expect(delays.at((jobs - 1) / 2)).toBeLessThanOrEqual(limit / 2 + limit / jobs);
    },
  );

  test("async job of an hour: at most 2 s, with fewer than 4000 polls", async () => {
    const { context, polls, lag } = await startJob(3_599_900);
    await JobInvoke.create(inputs, context);
    expect(lag()).toBeLessThanOrEqual(2000);
    expect(polls()).toBeLessThan(4000);
  });
});

describe("progress lines do not exceed those of polls every 2 s", () => {
  test.each([
    { seconds: 1, limit: 4 },
    { seconds: 10, limit: 10 },
    { seconds: 60, limit: 35 },
    { seconds: 600, limit: 305 },
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
