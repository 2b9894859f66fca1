import { expect, test } from "vitest";
import { createRollouts } from "../../../../service/workers/rollout";
import { managedWorkers } from "./support/managed-worker";

const rules = {
  workersMin: 0,
  workersMax: 3,
  idleTimeout: 60_000,
  scalerType: "QUEUE_DELAY",
  scalerValue: 4000,
} as const;
const state = { now: 0, waiting: [], workers: [], stopping: 0 };
const scaled = { start: 0, drain: [], replanAt: Number.POSITIVE_INFINITY };
const idsOf = (workers: { id: string }[]) => workers.map(({ id }) => id);

/** An endpoint with a worker that starts, a worker of version 1 and a worker of version 2, both ready. */
function usePool() {
  const pool = managedWorkers();
  const [starting, one, two] = [pool.add("starting"), pool.add("one"), pool.add("two", undefined, 2)];
  for (const worker of [one, two]) worker.polled();
  return { workers: [starting, one, two], one, two };
}

test("a change makes all workers outdated, and ends those that have not started", () => {
  const { workers } = usePool();
  const { unstarted, hung } = createRollouts().start("e", workers, [], false);
  expect([idsOf(unstarted), hung]).toEqual([["starting"], []]);
  expect(workers.every(({ outdated }) => outdated)).toBe(true);
});

test("a change ends workers of a version that was rolled back, unless a worker of the version completed a job", () => {
  const { workers, two } = usePool();
  expect(idsOf(createRollouts().start("e", workers, [2], false).hung)).toEqual(["two"]);
  two.succeeded();
  expect(createRollouts().start("e", workers, [2], false).hung).toEqual([]);
});

test("waiting jobs may run on outdated workers during a rollout, except after a restart", () => {
  const rollouts = createRollouts();
  expect(rollouts.keepsJobs("e")).toBe(false);
  rollouts.start("e", usePool().workers, [], false);
  expect(rollouts.keepsJobs("e")).toBe(true);
  rollouts.start("e", usePool().workers, [], true);
  expect(rollouts.keepsJobs("e")).toBe(false);
  rollouts.start("e", usePool().workers, [], false);
  expect(rollouts.keepsJobs("e")).toBe(true);
  rollouts.finish("e");
  expect(rollouts.keepsJobs("e")).toBe(false);
});

test("without a worker that had started and stays, there is no rollout", () => {
  for (const prepare of [
    () => [],
    () => usePool().workers.slice(0, 1),
    () => {
      const { one } = usePool();
      one.drain();
      return [one];
    },
  ]) {
    const rollouts = createRollouts();
    rollouts.start("e", prepare(), [], false);
    expect(rollouts.keepsJobs("e")).toBe(false);
    expect(rollouts.plan("e", rules, state, scaled)).toBe(scaled);
  }
});

test("a second change during a rollout keeps the number of workers of the first", () => {
  const rollouts = createRollouts();
  rollouts.start("e", usePool().workers, [], false);
  rollouts.start("e", usePool().workers.slice(0, 2), [], false);
  const outdated = { id: "o", phase: "idle", since: 0, jobs: 0, outdated: true, provenAt: 0 } as const;
  const fresh = { ...outdated, id: "f", outdated: false };
  expect(rollouts.plan("e", rules, { ...state, workers: [fresh] }, scaled)).toMatchObject({ start: 1 });
  expect(rollouts.plan("e", rules, { ...state, workers: [fresh, { ...fresh, id: "g" }] }, scaled)).toBe(scaled);
  expect(rollouts.keepsJobs("e")).toBe(false);
});
