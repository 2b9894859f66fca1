import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planRollout, type Rollout } from "../../../../service/workers/rollout";
import {
  planWorkers,
  type ScaledWorker,
  type ScalingRules,
  type ScalingState,
} from "../../../../service/workers/scaler";

const now = 1_000_000;
const rules = (changes: Partial<ScalingRules> = {}): ScalingRules => ({
  workersMin: 0,
  workersMax: 3,
  idleTimeout: 60_000,
  scalerType: "QUEUE_DELAY",
  scalerValue: 4000,
  ...changes,
});
let created = 0;
const worker = (
  outdated: boolean,
  phase: ScaledWorker["phase"],
  provenAt = Number.POSITIVE_INFINITY,
): ScaledWorker => ({
  id: `w${++created}`,
  phase,
  throttled: false,
  since: now,
  jobs: phase === "busy" ? 1 : 0,
  outdated,
  provenAt,
});
const old = (phase: ScaledWorker["phase"] = "idle") => worker(true, phase, 0);
const proven = (phase: ScaledWorker["phase"] = "busy") => worker(false, phase, 0);
const starting = () => worker(false, "starting");
const unproven = (phase: "idle" | "busy", provenAt?: number) => worker(false, phase, provenAt);
const stateOf = (workers: ScaledWorker[], stopping = 0, waiting: ScalingState["waiting"] = []): ScalingState => ({
  now,
  waiting,
  workers,
  stopping,
});
function step(changes: Partial<ScalingRules>, size: number, workers: ScaledWorker[], stopping = 0) {
  const [all, state] = [rules(changes), stateOf(workers, stopping)];
  return planRollout(all, state, planWorkers(all, state), { size, restart: false });
}

describe("a step of a rollout", () => {
  test("starts a first new worker if there is room, and ends none", () => {
    expect(step({}, 2, [old(), old("busy")]).plan).toMatchObject({ start: 1, drain: [] });
  });

  test("without room first ends one of several old workers, an idle worker before a busy worker", () => {
    const idle = old();
    expect(step({}, 3, [old("busy"), idle, old("busy")]).plan).toMatchObject({ start: 0, drain: [idle.id] });
  });

  test("ends the last old worker first only if workersMax is 1", () => {
    const only = old();
    expect(step({ workersMax: 1 }, 1, [only]).plan).toMatchObject({ start: 0, drain: [only.id] });
    expect(step({ workersMax: 2 }, 2, [only], 1).plan).toMatchObject({ start: 0, drain: [] });
  });

  test("waits while a new worker starts, runs its first job or has just become idle", () => {
    for (const fresh of [starting(), unproven("busy"), unproven("idle", now + 500)])
      expect(step({}, 2, [old(), old(), fresh]).plan).toMatchObject({ start: 0, drain: [] });
    expect(step({}, 2, [old(), old(), unproven("idle", now + 500)]).plan.replanAt).toBe(now + 500);
  });

  test("ends an old worker and starts the next new worker, if there is room, once a new worker is proven", () => {
    const [one, other] = [old(), old()];
    expect(step({}, 2, [one, other, proven()]).plan).toMatchObject({ start: 0, drain: [one.id] });
    expect(step({}, 2, [other, proven()], 1).plan).toMatchObject({ start: 0, drain: [] });
    expect(step({}, 2, [other, proven()]).plan).toMatchObject({ start: 1, drain: [] });
    expect(step({ workersMax: 9 }, 2, [one, other, proven()]).plan).toMatchObject({ start: 1, drain: [one.id] });
  });

  test("replaces a tenth of workersMax at a time", () => {
    const crowd = Array.from({ length: 10 }, () => old());
    expect(step({ workersMax: 30 }, 10, crowd).plan).toMatchObject({ start: 3 });
  });

  test("is done when the new workers match the number of old workers, or no old worker remains", () => {
    expect(step({}, 2, [proven(), proven("idle")]).rollout).toBeUndefined();
    expect(step({}, 2, [proven(), starting()]).rollout?.size).toBe(2);
    expect(step({ workersMax: 0 }, 2, [old(), old("busy")])).toMatchObject({ rollout: undefined, plan: { start: 0 } });
  });

  test("starts further workers for queued jobs only if the version is proven", () => {
    const all = rules({ workersMax: 5 });
    const late = Array.from({ length: 5 }, () => ({ queuedAt: now - 9000 }));
    for (const [fresh, start] of [
      [unproven("busy"), 0],
      [proven(), 2],
    ] as const) {
      const state = stateOf([old("busy"), old("busy"), fresh], 0, late);
      expect(planRollout(all, state, planWorkers(all, state), { size: 2, restart: false }).plan).toMatchObject({
        start,
      });
    }
  });
});

/** Simulates a rollout with workers that need `lag` steps to start and stop. Returns the maximum and minimum number of workers. */
function play(workersMax: number, workersMin: number, before: number, broken: boolean, lag: number) {
  const all = rules({ workersMax, workersMin });
  let workers = Array.from({ length: before }, () => old());
  let rollout: Rollout | undefined = { size: before, restart: false };
  let leaving: number[] = [];
  const ages = new Map<string, number>();
  let [most, least] = [before, before];
  for (let turn = 0; turn < 300; turn++) {
    const state = stateOf(workers, leaving.length);
    const result = planRollout(all, state, planWorkers(all, state), rollout);
    rollout = result.rollout;
    const { drain, start } = result.plan;
    workers = workers.filter(({ id }) => !drain.includes(id));
    leaving = [
      ...leaving.map((remaining) => remaining - 1).filter((remaining) => remaining > 0),
      ...drain.map(() => lag),
    ];
    workers.push(...Array.from({ length: start }, starting));
    most = Math.max(most, workers.length + leaving.length);
    least = Math.min(least, workers.filter(({ phase }) => phase !== "starting").length);
    workers = workers.flatMap((worker) => {
      const age = (ages.get(worker.id) ?? 0) + 1;
      ages.set(worker.id, age);
      if (worker.phase !== "starting" || age < lag) return [worker];
      return broken ? [] : [{ ...worker, phase: "idle" as const, provenAt: now }];
    });
  }
  return { most, least, over: rollout === undefined, workers };
}

const sizes = fc
  .tuple(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 1, max: 25 }), fc.nat(25), fc.integer({ min: 1, max: 4 }))
  .map(([max, before, min, lag]) => ({ max, before: Math.min(before, max), min: Math.min(min, max), lag }));

test("a rollout ends with as many workers as before, within workersMax, and with a running worker at any time except at workersMax 1", () => {
  fc.assert(
    fc.property(sizes, ({ max, min, before, lag }) => {
      const { most, least, over, workers } = play(max, min, before, false, lag);
      expect({ over, old: workers.filter(({ outdated }) => outdated) }).toEqual({ over: true, old: [] });
      expect(workers.length).toBeGreaterThanOrEqual(Math.max(before, min));
      expect(most).toBeLessThanOrEqual(max);
      expect(least).toBeGreaterThanOrEqual(max === 1 ? 0 : Math.max(1, before - 2 * Math.ceil(max / 10)));
    }),
  );
});

test("a rollout whose workers never start keeps all old workers except those ended to make room", () => {
  fc.assert(
    fc.property(sizes, ({ max, min, before, lag }) => {
      const { most, least, over } = play(max, min, before, true, lag);
      expect(over).toBe(false);
      expect(most).toBeLessThanOrEqual(max);
      expect(least).toBeGreaterThanOrEqual(max === 1 ? 0 : Math.max(1, before - Math.ceil(max / 10)));
    }),
  );
});
