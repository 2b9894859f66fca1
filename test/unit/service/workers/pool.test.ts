import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { steadyClock } from "../../../../service/steady-clock";
import { defaultTimings as timings } from "../../../../service/timings";
import { createDispatcher } from "../../../../service/workers/dispatcher";
import { createWorkerPool } from "../../../../service/workers/pool";
import { problemOf } from "../../../../service/workers/problems";
import { createWorkerRegistry } from "../../../../service/workers/registry";
import type { ProcessEnd } from "../../../../service/workers/runtimes/runtime";
import { isManaged } from "../../../../service/workers/worker";
import { ManualClock } from "../../../support/manual-clock";
import { useJobs } from "../queue/support/queue-rig";
import { useResources } from "../resources/resources-rig";
import { runningProgram } from "./support/managed-worker";

const crashed = { description: "ended with exit code 3", clean: false, lastErrors: [] };

/** The pool of one endpoint, which needs one worker. Its workers start unless there is a `lack`; it starts itself if `isStarted`. */
async function usePool(isStarted = true) {
  const { endpoints, template, lookup } = useResources();
  const { id } = endpoints.create({ templateId: template(), workersMin: 1, workersMax: 1 });
  const { jobs, events, newJob } = useJobs();
  const time = new ManualClock();
  const clock = steadyClock(time);
  const log = pino({ level: "silent" });
  const registry = createWorkerRegistry(clock, (endpointId) => lookup.get(endpointId) !== undefined);
  const faults = { jobFailure: () => undefined, stripsEmptyInput: () => false, crashesWorker: () => false };
  const dispatcher = createDispatcher({ jobs, events, registry, clock, timings, log, faults });
  const lack: { current?: { error: string } | { noStock: string } | undefined } = {};
  const ends: ((end: ProcessEnd) => void)[] = [];
  const start = () => {
    if (lack.current) return lack.current;
    const ended = new Promise<ProcessEnd>((end) => ends.push(end));
    const { process } = runningProgram({ ended });
    return { id: `w${ends.length}`, process, image: "acme/chat:1", redact: String };
  };
  const starter = { start, lackOfStock: () => undefined, adopt: () => undefined };
  const [waitingWork, hasExternalWorkers] = [() => [], () => false];
  const parts = { registry, dispatcher, events, waitingWork, hasExternalWorkers, starter, clock, timings, log };
  const pool = createWorkerPool({ ...parts, endpoints: lookup });
  if (isStarted) pool.start();
  onTestFinished(async () => {
    for (const end of ends) end(crashed);
    await pool.stop({ leavesWorkers: false });
  });
  const group = registry.open(id);
  if (!group) throw new Error("the endpoint does not exist");
  const workers = () => [...group.workers.values()].filter(isManaged);
  await time.advance(0);
  return {
    id,
    pool,
    registry,
    dispatcher,
    group,
    lack,
    deleteEndpoint: () => endpoints.remove(id, { needsScaleDown: false }),
    /** Lets the pool make its passes. */
    advance: (ms = 0) => time.advance(ms),
    problem: () => problemOf(group, clock.now(), timings),
    ids: () => workers().map((worker) => worker.id),
    /** Runs a job at the only worker. */
    async runJob() {
      const [worker] = workers();
      if (!worker) throw new Error("no worker runs");
      await jobs.submit(newJob({ endpointId: id }));
      const [delivery] = await dispatcher.takeJobs(worker, 1, undefined, new AbortController().signal);
      return { worker, jobId: delivery?.job.id ?? "" };
    },
    /** Continues a worker of an earlier service. Returns it with the requests for its program. */
    adopt(isCurrent: boolean) {
      const ended = new Promise<ProcessEnd>((end) => ends.push(end));
      const { process, calls } = runningProgram({ ended });
      const endpoint = lookup.get(id);
      if (endpoint) pool.adopt(endpoint, { id: "adopted", process, image: "acme/chat:1", redact: String }, isCurrent);
      return { worker: registry.find(id, "adopted"), calls };
    },
    /** Ends the program of the last worker. */
    async crash() {
      ends.at(-1)?.(crashed);
      await time.advance(0);
    },
  };
}

test("an endpoint without stock counts the missing workers until one starts", async () => {
  const { group, lack, pool, id, ids, crash, advance } = await usePool();
  lack.current = { noStock: "no stock" };
  await crash();
  await advance(timings.startBackoff);
  expect(group.throttled).toBe(1);
  lack.current = undefined;
  pool.reconcile(id);
  await advance();
  expect(group.throttled).toBe(0);
  expect(ids()).toEqual(["w2"]);
});

test("a failed start is a problem until a worker is ready", async () => {
  const { registry, id, ids, crash, advance, problem } = await usePool();
  await crash();
  expect(problem()).toContain("do not start: the last one ended with exit code 3");
  await advance(timings.startBackoff);
  expect(ids()).toEqual(["w2"]);
  expect(problem()).toBeDefined();
  registry.find(id, "w2")?.polled();
  await advance();
  expect(problem()).toBeUndefined();
});

test("a crash during a job is a problem, and delays starts, until a worker ends a job", async () => {
  const { runJob, dispatcher, crash, advance, problem, group } = await usePool();
  await runJob();
  await crash();
  expect(problem()).toContain("crash: the last one ended with exit code 3 while it ran a job");
  await advance(timings.startBackoff);
  const { worker, jobId } = await runJob();
  expect(problem()).toContain("crash");
  expect(group.backoff.failures).toBe(1);
  await dispatcher.finish(worker, jobId, { output: "1", error: undefined }, false);
  expect(problem()).toBeUndefined();
  expect(group.backoff.failures).toBe(0);
});

test("a worker that the service ended during a job is no problem", async () => {
  const { runJob, crash, problem, group } = await usePool();
  const { worker } = await runJob();
  worker.kill("belongs to a deleted endpoint");
  await crash();
  expect(problem()).toBeUndefined();
  expect(group.backoff.failures).toBe(0);
});

test("an adopted worker with an outdated configuration ends after its jobs, which it gets later", async () => {
  const { adopt, advance } = await usePool();
  const { worker, calls } = adopt(false);
  worker?.reassigned("job", false, timings.returnGrace);
  await advance();
  expect(calls).toEqual([]);
  worker?.released("job");
  await advance();
  expect(calls).toEqual([`stop within ${timings.killGrace} ms`]);
});

test.each([
  { isCurrent: true, leavesWorkers: true },
  { isCurrent: false, leavesWorkers: true },
  { isCurrent: true, leavesWorkers: false },
  { isCurrent: false, leavesWorkers: false },
])("a stop before the first pass ends adopted workers unless it leaves them: %j", async (stop) => {
  const { adopt, pool, advance } = await usePool(false);
  const { calls } = adopt(stop.isCurrent);
  void pool.stop(stop);
  await advance();
  expect(calls).toEqual(stop.leavesWorkers ? [] : [`stop within ${timings.killGrace} ms`]);
});

test("a changed endpoint has no problem, and its next worker starts immediately", async () => {
  const { id, pool, lack, ids, runJob, crash, advance, problem } = await usePool();
  await runJob();
  lack.current = { error: "no command" };
  await crash();
  await advance(timings.startBackoff);
  expect(problem()).toBe("no command");
  lack.current = undefined;
  pool.replaceAll(id);
  expect(problem()).toBeUndefined();
  await advance();
  expect(ids()).toEqual(["w2"]);
});

test("a removed endpoint has no group, even after a late event or a late call", async () => {
  const { id, pool, registry, crash, advance, deleteEndpoint } = await usePool();
  const ended = pool.endWorkers(id);
  await crash();
  await ended;
  registry.removeEndpoint(id);
  deleteEndpoint();
  const calls = [
    () => registry.events.emit("changed", id),
    () => pool.reconcile(id),
    () => pool.replaceAll(id),
    () => registry.join({ id: "late", endpointId: id, redact: String }),
    () => registry.open(id),
  ];
  for (const call of calls) {
    call();
    await advance();
    expect(registry.group(id)).toBeUndefined();
  }
});

test("a change is a rollout until a new worker has started in place of each ready one", async () => {
  const { id, pool, registry, group, crash, advance } = await usePool();
  registry.find(id, "w1")?.polled();
  pool.replaceAll(id, true);
  expect(group.rollout).toEqual({ size: 1, restart: true });
  await advance();
  await crash();
  await advance();
  expect(group.rollout).toBeDefined();
  registry.find(id, "w2")?.polled();
  await advance();
  expect(group.rollout).toBeUndefined();
});
