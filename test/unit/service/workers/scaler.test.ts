import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planWorkers, type ScaledWorker, type ScalingRules } from "../../../../service/workers/scaler";

const now = 1_000_000;
const rules = (changes: Partial<ScalingRules> = {}): ScalingRules => ({
  workersMin: 0,
  workersMax: 3,
  idleTimeout: 5000,
  scalerType: "QUEUE_DELAY",
  scalerValue: 4000,
  ...changes,
});
const waitingFor = (...ms: number[]) => ms.map((wait) => ({ queuedAt: now - wait }));
let created = 0;
const worker = (phase: ScaledWorker["phase"], forMs = 0): ScaledWorker => ({
  id: `${phase}-${++created}`,
  phase,
  throttled: false,
  since: now - forMs,
  jobs: phase === "busy" ? 1 : 0,
  outdated: false,
  provenAt: now,
});
const plan = (
  changes: Partial<ScalingRules>,
  waiting: { queuedAt: number }[],
  workers: ScaledWorker[] = [],
  stopping = 0,
) => planWorkers(rules(changes), { now, waiting, workers, stopping });

describe("QUEUE_DELAY", () => {
  test("the first queued job starts the first worker immediately", () => {
    expect(plan({}, waitingFor(0))).toMatchObject({ start: 1 });
  });

  test("a job queued for less than scalerValue adds no worker, and the plan contains the time of the next check", () => {
    expect(plan({}, waitingFor(3000), [worker("busy")])).toEqual({ start: 0, drain: [], replanAt: now + 1000 });
  });

  test("each job queued for scalerValue adds a worker, minus the idle and starting workers", () => {
    expect(plan({}, waitingFor(9000, 4000, 100), [worker("busy")])).toMatchObject({ start: 2 });
    expect(plan({}, waitingFor(9000, 4000), [worker("busy"), worker("starting")])).toMatchObject({ start: 1 });
  });
});

describe("REQUEST_COUNT", () => {
  const counting = { scalerType: "REQUEST_COUNT", scalerValue: 4, workersMax: 10 } as const;
  test.each([
    [0, 0, 0],
    [1, 0, 1],
    [4, 0, 1],
    [5, 0, 2],
    [8, 1, 2],
  ])("%i queued and %i running jobs at 4 per worker start %i", (waiting, running, start) => {
    const workers = Array.from({ length: running }, () => worker("busy"));
    expect(plan(counting, waitingFor(...Array<number>(waiting).fill(0)), workers)).toMatchObject({ start });
  });

  test.each([
    [0, "busy", 0, 0],
    [0, "busy", 2, 1],
    [1, "busy", 0, 1],
    [1, "idle", 0, 0],
  ] as const)(
    "%i queued at 1 per %s worker with %i jobs that are not of low priority start %i",
    (waiting, phase, jobs, start) => {
      const workers = [{ ...worker(phase), jobs }];
      const queued = waitingFor(...Array<number>(waiting).fill(0));
      expect(plan({ ...counting, scalerValue: 1 }, queued, workers)).toMatchObject({ start });
    },
  );
});

test("an ending worker counts until it has ended", () => {
  const late = waitingFor(9000, 9000, 9000);
  const counting = { scalerType: "REQUEST_COUNT", scalerValue: 1 } as const;
  for (const scaler of [{}, counting]) {
    expect(plan({ ...scaler, workersMax: 1 }, late, [], 1)).toMatchObject({ start: 0, drain: [] });
    expect(plan({ ...scaler, workersMax: 3 }, late, [], 2)).toMatchObject({ start: 1 });
    expect(plan({ ...scaler, workersMax: 3 }, late, [worker("busy")], 1)).toMatchObject({ start: 1 });
    expect(plan({ ...scaler, workersMax: 3 }, late, [worker("busy"), worker("busy")], 2)).toMatchObject({ start: 0 });
  }
  expect(plan({ workersMin: 2, workersMax: 2 }, [], [worker("idle")], 1)).toMatchObject({ start: 0, drain: [] });
});

test("workersMin workers start without jobs and keep running", () => {
  expect(plan({ workersMin: 2 }, [])).toMatchObject({ start: 2 });
  expect(plan({ workersMin: 1 }, [], [worker("idle", 60_000)])).toMatchObject({ start: 0, drain: [] });
});

test("an idle worker ends after idleTimeout, and not before", () => {
  const idle = worker("idle", 4000);
  expect(plan({}, [], [idle])).toEqual({ start: 0, drain: [], replanAt: now + 1000 });
  expect(plan({ idleTimeout: 4000 }, [], [idle])).toMatchObject({ drain: [idle.id] });
});

const throttled = (forMs: number): ScaledWorker => ({ ...worker("starting", forMs), throttled: true });
test.each([
  ["QUEUE_DELAY", 4000, 0, {}, 3],
  ["QUEUE_DELAY", 4000, 1, {}, 2],
  ["QUEUE_DELAY", 4000, 3, {}, 0],
  ["QUEUE_DELAY", 4000, 0, { workersMin: 2 }, 2],
  ["REQUEST_COUNT", 1, 2, {}, 1],
  ["REQUEST_COUNT", 4, 2, {}, 3],
  ["REQUEST_COUNT", 4, 4, {}, 2],
] as const)(
  "%s %i: beside a busy worker and %i waiting jobs, of three workers without room with %j, %i end after idleTimeout",
  (scalerType, scalerValue, waiting, changes, ended) => {
    const scaling = { scalerType, scalerValue, workersMax: 9, ...changes };
    const planAfter = (ms: number) =>
      plan(scaling, waitingFor(...Array<number>(waiting).fill(100)), [
        worker("busy", 9000),
        ...[1, 2, 3].map(() => throttled(ms)),
      ]);
    expect(planAfter(4000)).toMatchObject({ start: 0, drain: [] });
    if (ended > 0) expect(planAfter(4000).replanAt).toBe(now + 1000);
    expect(planAfter(5000).drain).toHaveLength(ended);
  },
);

test("a worker without room stays while outdated workers remain, and ends first above workersMax", () => {
  const all = [throttled(60_000), worker("idle", 0), { ...worker("busy"), outdated: true }];
  expect(plan({}, [], all)).toMatchObject({ drain: [] });
  expect(plan({ workersMax: 2 }, [], all).drain).toEqual([all[0]?.id]);
});

test("above workersMax, idle workers end first, then starting workers, then busy workers", () => {
  const [busy, idle, starting] = [worker("busy"), worker("idle"), worker("starting")];
  expect(plan({ workersMax: 2 }, [], [busy, idle, starting])).toMatchObject({ drain: [idle.id] });
  expect(plan({ workersMax: 0 }, [], [busy, idle, starting])).toMatchObject({
    drain: [idle.id, starting.id, busy.id],
  });
});

test("of workers in the same phase, outdated workers end first, then those that were idle longest", () => {
  for (const phase of ["idle", "starting", "busy"] as const) {
    const older = worker(phase, 3000);
    const outdated = { ...worker(phase, 1000), outdated: true };
    const newer = worker(phase, 2000);
    const order = [outdated.id, older.id, newer.id];
    for (const count of [1, 2, 3])
      expect(plan({ workersMax: 3 - count }, [], [newer, older, outdated]).drain).toEqual(order.slice(0, count));
  }
});

test("any plan respects the bounds, and ends no busy worker that may stay, unless it is outdated", () => {
  const phase = fc.constantFrom("starting" as const, "idle" as const, "busy" as const);
  const [isThrottled, outdated, isProven, forMs] = [fc.boolean(), fc.boolean(), fc.boolean(), fc.nat(20_000)];
  const workers = fc.array(fc.record({ phase, isThrottled, outdated, isProven, forMs }), { maxLength: 8 });
  const bounds = fc.tuple(fc.nat(4), fc.nat(4)).map(([min, more]) => ({ workersMin: min, workersMax: min + more }));
  const waiting = fc.array(fc.nat(20_000), { maxLength: 8 });
  const scalerType = fc.constantFrom("QUEUE_DELAY" as const, "REQUEST_COUNT" as const);
  fc.assert(
    fc.property(
      bounds,
      scalerType,
      fc.integer({ min: 1, max: 9000 }),
      waiting,
      workers,
      fc.nat(3),
      (range, type, value, jobs, list, leaving) => {
        const all = list.map(({ phase, isThrottled, outdated, isProven, forMs }) => ({
          ...worker(phase, forMs),
          outdated,
          provenAt: isProven ? now : Number.POSITIVE_INFINITY,
          throttled: isThrottled && phase === "starting",
        }));
        const queue = waitingFor(...jobs).sort((a, b) => a.queuedAt - b.queuedAt);
        const { start, drain } = plan({ ...range, scalerType: type, scalerValue: value }, queue, all, leaving);
        const after = all.length - drain.length + start;
        expect(after).toBeGreaterThanOrEqual(Math.min(range.workersMin, range.workersMax - leaving));
        expect(after).toBeLessThanOrEqual(range.workersMax);
        if (start > 0) expect(after + leaving).toBeLessThanOrEqual(range.workersMax);
        expect(start === 0 || drain.length === 0).toBe(true);
        const forced = Math.max(0, all.length - range.workersMax);
        const busyGone = all.filter(
          ({ id, phase, outdated }) => phase === "busy" && !outdated && drain.includes(id),
        ).length;
        expect(busyGone).toBeLessThanOrEqual(forced);
        // The end of workers without room is no reason to start others.
        const rest = all.filter(({ id }) => !drain.includes(id));
        if (all.every(({ id, throttled }) => throttled || !drain.includes(id)) && drain.length > forced)
          expect(plan({ ...range, scalerType: type, scalerValue: value }, queue, rest, leaving)).toMatchObject({
            start: 0,
          });
      },
    ),
  );
});
