import { expect, test } from "vitest";
import { keepsJobs, planRollout, type Rollout, startRollout } from "../../../../service/workers/rollout";
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

/** The rollout after changes, each at a new pool of workers. */
const after = (...restarts: boolean[]) =>
  restarts.reduce<Rollout | undefined>(
    (rollout, restart) => startRollout(rollout, usePool().workers, [], restart).rollout,
    undefined,
  );

test("a change makes all workers outdated, and ends those that have not started", () => {
  const { workers } = usePool();
  const { unstarted, hung } = startRollout(undefined, workers, [], false);
  expect([idsOf(unstarted), hung]).toEqual([["starting"], []]);
  expect(workers.every(({ outdated }) => outdated)).toBe(true);
});

test("a change ends workers of a version that was rolled back, unless a worker of the version completed a job", () => {
  const { workers, two } = usePool();
  expect(idsOf(startRollout(undefined, workers, [2], false).hung)).toEqual(["two"]);
  two.succeeded();
  expect(startRollout(undefined, workers, [2], false).hung).toEqual([]);
});

test("waiting jobs may run on outdated workers during a rollout, except after a restart", () => {
  expect(keepsJobs(undefined)).toBe(false);
  expect(keepsJobs(after(false))).toBe(true);
  expect(keepsJobs(after(false, true))).toBe(false);
  expect(keepsJobs(after(false, true, false))).toBe(true);
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
  ])
    for (const restart of [false, true])
      expect(startRollout(undefined, prepare(), [], restart).rollout).toBeUndefined();
  expect(planRollout(rules, state, scaled, undefined)).toEqual({ plan: scaled, rollout: undefined });
});

test("a second change during a rollout keeps the number of workers of the first", () => {
  const { rollout } = startRollout(after(false), usePool().workers.slice(0, 2), [], true);
  expect(rollout).toEqual({ size: 2, restart: true });
  const outdated = {
    id: "o",
    phase: "idle",
    throttled: false,
    since: 0,
    jobs: 0,
    outdated: true,
    provenAt: 0,
  } as const;
  const fresh = { ...outdated, id: "f", outdated: false };
  expect(planRollout(rules, { ...state, workers: [fresh] }, scaled, rollout)).toMatchObject({
    plan: { start: 1 },
    rollout: { size: 2, restart: true },
  });
  const workers = [fresh, { ...fresh, id: "g" }];
  expect(planRollout(rules, { ...state, workers }, scaled, rollout)).toEqual({ plan: scaled, rollout: undefined });
});
