import { expect, test } from "vitest";
import { defaultTimings as timings } from "../../../../service/timings";
import { rulesOf, scalingState } from "../../../../service/workers/scaling-view";
import type { ManagedWorker } from "../../../../service/workers/worker";
import { countRunning, phaseOf, stateOf } from "../../../../service/workers/worker-record";
import { managedWorkers, runningProgram, start } from "./support/managed-worker";

const later = start + 5000;
const never = Number.POSITIVE_INFINITY;

test("the scaler counts in milliseconds; a number of jobs is no time", () => {
  const rules = { workersMin: 1, workersMax: 3, scalerValue: 4, idleTimeout: 5 };
  expect(rulesOf({ ...rules, scalerType: "QUEUE_DELAY" })).toMatchObject({ scalerValue: 4000, idleTimeout: 5000 });
  expect(rulesOf({ ...rules, scalerType: "REQUEST_COUNT" })).toMatchObject({ scalerValue: 4, idleTimeout: 5000 });
});

const started = new Promise<void>(() => undefined);
const waits = (lacksStock: boolean) =>
  runningProgram({ started, waiting: () => ({ reason: "no room", lacksStock }) }).process;
const run = (worker: ManagedWorker, ...jobs: boolean[]): void => {
  worker.polled();
  for (const [index, lowPriority] of jobs.entries()) worker.assigned(`j${index}`, lowPriority);
};

/** A worker 5 s after its start, its phase, and its place in the scaler's input. */
const workers: [string, ReturnType<typeof waits> | undefined, (worker: ManagedWorker) => void, string, object][] = [
  ["a worker that starts", undefined, () => undefined, "initializing", { phase: "starting", since: start }],
  ["a worker that waits for its image", waits(false), () => undefined, "initializing", { phase: "starting" }],
  [
    "a worker without room",
    waits(true),
    () => undefined,
    "throttled",
    { phase: "starting", throttled: true, provenAt: never },
  ],
  ["an idle worker", undefined, (worker) => run(worker), "idle", { phase: "idle", jobs: 0 }],
  ["a worker with a job", undefined, (worker) => run(worker, false), "running", { phase: "busy", jobs: 1 }],
  [
    "a worker with jobs of low priority, which start no workers",
    undefined,
    (worker) => run(worker, true, false, true),
    "running",
    { phase: "busy", jobs: 1, provenAt: never },
  ],
  [
    "a worker with a job of low priority",
    undefined,
    (worker) => run(worker, true),
    "running",
    { phase: "busy", jobs: 0 },
  ],
  ["a worker with requests", undefined, (worker) => worker.leased(), "initializing", { jobs: 1 }],
  [
    "an unhealthy worker, which is not free",
    undefined,
    (worker) => worker.heartbeat([], "no memory"),
    "unhealthy",
    { phase: "busy", jobs: 0 },
  ],
  [
    "an idle worker, which is proven after a pause",
    undefined,
    (worker) => run(worker),
    "idle",
    { since: start, provenAt: start + timings.rolloutPause },
  ],
  [
    "a worker that completed a job, which is proven",
    undefined,
    (worker) => {
      run(worker, false);
      worker.succeeded();
    },
    "running",
    { since: start, provenAt: start },
  ],
  ["an outdated worker", undefined, (worker) => worker.becameOutdated(), "initializing", { outdated: true }],
];

test.each(workers)("the scaler gets the phase and jobs of %s", (_name, process, change, phase, scaled) => {
  const worker = managedWorkers().add("w", process);
  change(worker);
  expect(phaseOf(worker, later, timings)).toBe(phase);
  expect(countRunning([worker], later, timings)).toBe(["idle", "running"].includes(phase) ? 1 : 0);
  expect(scalingState([], [worker], later, timings)).toMatchObject({ workers: [{ id: "w", ...scaled }], stopping: 0 });
});

test("a worker that starts slowly is unhealthy, but free for the scaler: the job that waits for it starts no other", () => {
  const worker = managedWorkers().add("w");
  const muchLater = start + 2 * timings.takeSilence;
  expect(phaseOf(worker, muchLater, timings)).toBe("unhealthy");
  expect(scalingState([], [worker], muchLater, timings)).toMatchObject({
    workers: [{ phase: "starting", throttled: false }],
  });
});

test("a draining worker counts as stopping", () => {
  const pool = managedWorkers();
  const [draining, other] = [pool.add("draining"), pool.add("other")];
  draining.drain();
  expect(scalingState([], [draining, other], later, timings)).toMatchObject({
    workers: [{ id: "other" }],
    stopping: 1,
  });
});

test("the APIs show a worker's version and location, and the newest version for an external worker", () => {
  const pool = managedWorkers();
  const location = { node: "n", pod: "p", phase: "Running" };
  const process = runningProgram({ location: () => location }).process;
  const shown = { id: "w", status: "initializing", startedAt: start, version: 2, isStale: false };
  expect(stateOf(pool.add("w", process, 2), 7, later, timings)).toEqual({ ...shown, location });
  expect(stateOf(pool.add("w", undefined, 2), 7, later, timings)).toEqual(shown);
  const external = pool.registry.join({ id: "x", endpointId: "e", redact: String });
  expect(stateOf(external, 7, later, timings)).toMatchObject({ version: 7 });
});
