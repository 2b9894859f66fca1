import type { Dialect } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { deadlineOf, followRollout } from "../../../../provider/resources/serverless-endpoint/rollout";
import { json } from "../../../support/faulty-server";
import { startScriptedService } from "../../../support/scripted-service";

/** A worker of a poll. `isStale` is a field of REST v2, `version` of REST v1. */
interface Worker {
  id: string;
  status?: string;
  isStale?: boolean;
  version?: number;
}

interface Options {
  dialect?: Dialect;
  /** False if the service reports no version of the endpoint. */
  reportsVersion?: boolean;
  /** Ids of the workers before the change. */
  before?: string[];
  /** Time limit, s. */
  timeout?: number;
}

/** The rollout of endpoint `e1`, whose polls return these workers in order; the last response repeats. */
async function startRollout(
  polls: Worker[][],
  { dialect = "v2", reportsVersion = true, before, timeout = 300 }: Options = {},
) {
  const version = reportsVersion ? 2 : undefined;
  const { context, clock, messages, requests } = await startScriptedService((_request, count) => {
    const workers = polls[Math.min(count, polls.length) - 1] ?? [];
    if (dialect === "v1") return json({ id: "e1", name: "chat", templateId: "t", version, workers });
    return json({
      workers: workers.map((worker) => ({ gpuCount: 1, status: "RUNNING", ...worker })),
      summary: {},
      endpointVersion: version,
    });
  }, dialect);
  const verify = { timeout, attempts: 1, expect: { status: "COMPLETED" as const }, triggers: [] };
  const unreported = { status: undefined, version: undefined, isStale: undefined };
  const oldWorkers = before && { version: undefined, workers: before.map((id) => ({ id, ...unreported })) };
  const rollout = followRollout("e1", oldWorkers, deadlineOf(verify, context), context);
  return { rollout, clock, messages, polls: () => requests.length };
}

const job = (workerId?: string) => ({ id: "j1", status: "COMPLETED" as const, workerId });

describe("a worker is new", () => {
  test.each<[string, Worker, Options, string]>([
    ["if REST v2 reports that it is not stale", { id: "a", isStale: false }, {}, "1 of 1 workers on version 2"],
    ["unless REST v2 reports that it is stale", { id: "a", isStale: true }, {}, "0 of 1 workers on version 2"],
    [
      "if REST v1 reports the endpoint's version",
      { id: "a", version: 2 },
      { dialect: "v1", before: ["a"] },
      "1 of 1 workers on version 2",
    ],
    [
      "unless REST v1 reports an earlier version",
      { id: "a", version: 1 },
      { dialect: "v1", before: [] },
      "0 of 1 workers on version 2",
    ],
    [
      "if it did not exist before the change and the service reports no versions",
      { id: "b" },
      { dialect: "v1", reportsVersion: false, before: ["a"] },
      "1 of 1 workers on the new version",
    ],
    [
      "unless it existed before the change and the service reports no versions",
      { id: "a" },
      { dialect: "v1", reportsVersion: false, before: ["a"] },
      "0 of 1 workers on the new version",
    ],
  ])("%s", async (_, worker, options, text) => {
    const { rollout } = await startRollout([[worker]], options);
    await rollout.waitUntilSettled(1);
    expect(rollout.text()).toBe(text);
    expect(rollout.version()).toBe(options.reportsVersion === false ? undefined : 2);
  });
});

const old: Worker = { id: "old", isStale: true };
const fresh: Worker = { id: "new", isStale: false };

describe("the wait for a new worker", () => {
  test("ends when a new worker is up, although old workers are left", async () => {
    const { rollout, polls, messages } = await startRollout([
      [],
      [old],
      [old, { ...fresh, status: "INITIALIZING" }],
      [old, fresh],
    ]);
    await rollout.waitUntilReady();
    // No workers at all: the first job starts one.
    expect(polls()).toBe(1);
    expect(messages).toEqual(["no workers yet on version 2"]);
    await rollout.waitUntilReady();
    expect(polls()).toBe(4);
    expect(messages.slice(1)).toEqual([
      "0 of 1 workers on version 2",
      "1 of 2 workers on version 2",
      "1 of 2 workers on version 2",
    ]);
  });

  test("ends after 10, 20, 40, 60 and 60 s while only old workers are up", async () => {
    const { rollout, clock } = await startRollout([[old]]);
    const waits: number[] = [];
    for (let wait = 0; wait < 5; wait++) {
      const start = clock.now();
      await rollout.waitUntilReady();
      waits.push((clock.now() - start) / 1000);
    }
    expect(waits).toEqual([10, 20, 40, 60, 60]);
  });

  test("continues until no old worker is left after a job that names no worker", async () => {
    const { rollout, polls } = await startRollout([[old], ...Array.from({ length: 30 }, () => [old, fresh]), [fresh]]);
    await rollout.waitUntilReady();
    expect(await rollout.ranOnNewWorker(job())).toBeUndefined();
    await rollout.waitUntilReady();
    expect(polls()).toBe(32);
    expect(await rollout.ranOnNewWorker(job())).toBe(true);
  });

  test("ends at the deadline", async () => {
    const { rollout, clock } = await startRollout([[old]], { timeout: 5 });
    await rollout.waitUntilReady();
    expect(clock.now()).toBe(5000);
  });
});

describe("a job", () => {
  test("ran on a new worker unless its worker was ever reported as old", async () => {
    const { rollout, polls } = await startRollout([[old, fresh], [{ id: "late", isStale: false }]]);
    await rollout.waitUntilReady();
    expect(await rollout.ranOnNewWorker(job("old"))).toBe(false);
    expect(await rollout.ranOnNewWorker(job("new"))).toBe(true);
    expect(polls()).toBe(1);
    // An unknown worker is looked up.
    expect(await rollout.ranOnNewWorker(job("late"))).toBe(true);
    expect(polls()).toBe(2);
    expect(await rollout.ranOnNewWorker(job("old"))).toBe(false);
  });
});

describe("a rollout is settled", () => {
  test.each<[string, Worker[], number, boolean]>([
    ["if a new worker is up", [fresh], 1, true],
    ["if no worker is left and none is required", [], 0, true],
    ["not if no worker is left and one is required", [], 1, false],
    ["not if the only new worker is starting", [{ ...fresh, status: "INITIALIZING" }], 0, false],
    ["not while an old worker is left", [old, fresh], 1, false],
  ])("%s", async (_, workers, workersMin, settled) => {
    const { rollout, clock } = await startRollout([workers], { timeout: 3 });
    expect(await rollout.waitUntilSettled(workersMin)).toBe(settled);
    expect(clock.now()).toBe(settled ? 0 : 3000);
  });
});
