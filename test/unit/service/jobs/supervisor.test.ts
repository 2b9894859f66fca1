import { limits } from "serverless-compute-api/shapes";
import { expect, onTestFinished, test } from "vitest";
import { createAlarm } from "../../../../service/jobs/alarm";
import { createSupervisor } from "../../../../service/jobs/supervisor";
import { openJobsRig } from "./support/jobs-rig";

const silent = { error: () => undefined };

function rigOf() {
  const rig = openJobsRig();
  onTestFinished(() => rig.close());
  const supervisor = createSupervisor({ ...rig, log: silent, sweep: 1 });
  const status = (id: string) => rig.records.find("endpoint", id)?.job.status;
  return { ...rig, supervisor, status };
}

async function running(rig: ReturnType<typeof rigOf>, fields: Parameters<typeof rig.newJob>[0] = {}): Promise<string> {
  const job = rig.newJob(fields);
  await rig.jobs.submit(job);
  await rig.jobs.take("endpoint", "w", 1);
  return job.id;
}

test("a pass does nothing before the time and answers when the time is", async () => {
  const rig = rigOf();
  const id = await running(rig);
  expect(await rig.supervisor.pass()).toBe(rig.clock.now() + limits.executionTimeout.default);
  expect(rig.status(id)).toBe("IN_PROGRESS");
});

test("a job that runs for its executionTimeout is TIMED_OUT with the remedy, not a millisecond earlier", async () => {
  const rig = rigOf();
  const id = await running(rig, { executionTimeout: 5000 });
  await rig.clock.advance(4999);
  await rig.supervisor.pass();
  expect(rig.status(id)).toBe("IN_PROGRESS");
  await rig.clock.advance(1);
  await rig.supervisor.pass();
  expect(rig.records.find("endpoint", id)?.job).toMatchObject({
    status: "TIMED_OUT",
    error: expect.stringContaining("5000 ms"),
  });
});

test.each([
  ["run", limits.retention.run],
  ["runsync", limits.retention.runsync],
] as const)("the result of /%s is kept for %i ms after its end", async (operation, kept) => {
  const rig = rigOf();
  const id = await running(rig, { operation });
  await rig.jobs.finish(id, "w", { output: "1" });
  await rig.clock.advance(kept - 1);
  await rig.supervisor.pass();
  expect(rig.status(id)).toBe("COMPLETED");
  await rig.clock.advance(1);
  await rig.supervisor.pass();
  expect(rig.store.find(id)).toBeUndefined();
});

test("a job whose ttl is over is gone for readers before the supervisor comes", async () => {
  const rig = rigOf();
  const job = rig.newJob({ expiresAt: rig.clock.now() + 10_000 });
  await rig.jobs.submit(job);
  await rig.clock.advance(10_000);
  expect(rig.status(job.id)).toBeUndefined();
  expect(await rig.jobs.take("endpoint", "w", 1)).toEqual([]);
});

test("a running job whose executionTimeout and ttl are both over is gone before the supervisor comes", async () => {
  const rig = rigOf();
  const id = await running(rig, { executionTimeout: 5000, expiresAt: rig.clock.now() + 10_000 });
  await rig.clock.advance(9999);
  expect(rig.status(id)).toBe("IN_PROGRESS");
  await rig.clock.advance(1);
  expect(rig.status(id)).toBeUndefined();
  expect(await rig.jobs.cancel("endpoint", id)).toBeUndefined();
  await rig.supervisor.pass();
  expect(rig.store.find(id)).toBeUndefined();
});

test("a job whose ttl is over is removed even while running: what its worker answers then counts nowhere", async () => {
  const rig = rigOf();
  const id = await running(rig, { expiresAt: rig.clock.now() + 10_000, webhook: "http://127.0.0.1:9/" });
  await rig.clock.advance(10_000);
  expect(await rig.jobs.progress(id, "w", "1")).toBe(false);
  expect(await rig.jobs.finish(id, "w", { output: "1" })).toBe(false);
  expect(await rig.jobs.giveBack(id, "w", "crashed", "x")).toBe(false);
  expect(rig.counters.read("endpoint")).toEqual({ completed: 0, failed: 0, retried: 0 });
  expect(rig.webhooks.dueHosts(Number.MAX_SAFE_INTEGER)).toEqual([]);
  await rig.supervisor.pass();
  expect(rig.store.find(id)).toBeUndefined();
});

test("a removed running job is told with its worker, so that somebody can stop it", async () => {
  const rig = rigOf();
  const told: unknown[] = [];
  rig.events.on("removed", (job) => told.push(job));
  const id = await running(rig, { expiresAt: rig.clock.now() + 10_000 });
  await rig.clock.advance(10_000);
  await rig.supervisor.pass();
  expect(told).toMatchObject([{ id, status: "IN_PROGRESS", workerId: "w" }]);
});

test("a started supervisor comes by itself, also for a job that came later with an earlier end", async () => {
  const rig = rigOf();
  rig.supervisor.start();
  await running(rig);
  const early = await running(rig, { executionTimeout: 5000 });
  await rig.clock.advance(5000);
  await expect.poll(() => rig.status(early), { interval: 5 }).toBe("TIMED_OUT");
  await rig.supervisor.stop();
});

test("a job whose end cannot be written while the store is locked ends in the pass after that", async () => {
  const rig = rigOf();
  const logged: unknown[] = [];
  const supervisor = createSupervisor({ ...rig, log: { error: (line: unknown) => logged.push(line) }, sweep: 1 });
  supervisor.start();
  // A notification is a row, which needs the store itself.
  const id = await running(rig, { executionTimeout: 5000, webhook: "http://127.0.0.1:9/" });
  const unlock = rig.lockStore();
  await rig.clock.advance(5000);
  await expect.poll(() => logged.length, { interval: 5 }).toBe(1);
  expect(rig.status(id)).toBe("IN_PROGRESS");
  unlock();
  await rig.clock.advance(999);
  expect(rig.status(id)).toBe("IN_PROGRESS");
  await rig.clock.advance(1);
  await expect.poll(() => rig.status(id), { interval: 5 }).toBe("TIMED_OUT");
  expect(logged).toHaveLength(1);
  await supervisor.stop();
});

test("the table of jobs is empty again after thousands of jobs have lived their lives", async () => {
  const rig = rigOf();
  const ids = Array.from({ length: 2000 }, () => rig.newJob());
  await Promise.all(ids.map((job) => rig.jobs.submit(job)));
  await Promise.all(ids.map(() => rig.jobs.take("endpoint", "w", 1)));
  await Promise.all(ids.map(({ id }) => rig.jobs.finish(id, "w", { output: "1" })));
  await rig.clock.advance(limits.retention.run);
  expect(await rig.supervisor.pass()).toBeUndefined();
  expect(rig.store.endpoints()).toEqual([]);
  expect(rig.counters.read("endpoint").completed).toBe(2000);
});

test("an alarm that is stopped before its time does not run", async () => {
  const { clock } = rigOf();
  let runs = 0;
  const work = async () => ++runs * 1000 + clock.now();
  const alarm = createAlarm(clock, work, () => undefined);
  alarm.start();
  await expect.poll(() => runs).toBe(1);
  await alarm.stop();
  expect(runs).toBe(1);
});
