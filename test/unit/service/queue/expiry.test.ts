import { limits } from "serverless-compute-api/shapes";
import { describe, expect, test } from "vitest";
import { createExpiry } from "../../../../service/queue/expiry";
import type { WaitingWorker } from "../../../../service/queue/memory";
import { createScheduler } from "../../../../service/scheduler";
import { openJobs, submissionAt, useJobs } from "./support/queue-rig";

const silent = { error: () => undefined };

function rigOf(log: { error(line: unknown): void } = silent, sweep = 1) {
  const rig = useJobs();
  return { ...rig, expiry: createExpiry({ ...rig, clock: rig.steady, log, sweep }) };
}

test("a pass does nothing before anything is due, and returns the time of the next pass", async () => {
  const rig = rigOf();
  const id = await rig.run();
  expect(await rig.expiry.pass()).toBe(rig.clock.now() + limits.executionTimeout.default);
  expect(rig.status(id)).toBe("IN_PROGRESS");
});

test("a job is TIMED_OUT after exactly its executionTimeout, with the remedy", async () => {
  const rig = rigOf();
  const id = await rig.run({ executionTimeout: 5000 });
  await rig.clock.advance(4999);
  await rig.expiry.pass();
  expect(rig.status(id)).toBe("IN_PROGRESS");
  await rig.clock.advance(1);
  await rig.expiry.pass();
  expect(rig.list.find("endpoint", id)?.job).toMatchObject({
    status: "TIMED_OUT",
    error: expect.stringContaining("5000 ms"),
  });
});

describe.each([-3_600_000, 3_600_000])("if the system time changes by %i ms", (change) => {
  test("a job is TIMED_OUT after exactly its executionTimeout", async () => {
    const rig = rigOf();
    rig.expiry.start();
    const id = await rig.run({ executionTimeout: 5000 });
    rig.clock.change(change);
    await rig.clock.advance(4999);
    expect(rig.status(id)).toBe("IN_PROGRESS");
    await rig.clock.advance(1);
    await expect.poll(() => rig.status(id), { interval: 5 }).toBe("TIMED_OUT");
    await rig.expiry.stop();
  });

  test("the executionTimeout of a job that outlives the service continues", async () => {
    const rig = rigOf();
    const id = await rig.run({ executionTimeout: 5000 });
    await rig.clock.advance(3000);
    const { list, recover, expiry } = openJobs(rig.killed(), rig.clock);
    recover(() => true);
    expiry.start();
    rig.clock.change(change);
    await rig.clock.advance(1999);
    expect(list.get(id)?.status).toBe("IN_PROGRESS");
    await rig.clock.advance(1);
    await expect.poll(() => list.get(id)?.status, { interval: 5 }).toBe("TIMED_OUT");
    await expiry.stop();
  });

  test("an endpoint's changed timeout counts from the job's start", async () => {
    let executionTimeoutMs = 600_000;
    const rig = rigOf();
    const { jobs, list, take, expiry } = openJobs(rig.database, rig.clock, () => ({ executionTimeoutMs }));
    expiry.start();
    const { id, ...job } = rig.newJob();
    await jobs.submit({ id, ...job });
    await take("endpoint", "w");
    await rig.clock.advance(3000);
    rig.clock.change(change);
    executionTimeoutMs = 5000;
    expiry.applyTimeoutChange();
    await rig.clock.advance(1999);
    expect(list.get(id)?.status).toBe("IN_PROGRESS");
    await rig.clock.advance(1);
    await expect.poll(() => list.get(id)?.status, { interval: 5 }).toBe("TIMED_OUT");
    await expiry.stop();
  });
});

test.each([
  ["run", limits.retention.run],
  ["runsync", limits.retention.runsync],
] as const)("the result of /%s is kept for %i ms after its end", async (operation, retained) => {
  const rig = rigOf();
  const id = await rig.run({ operation });
  await rig.jobs.finish(id, rig.worker, { output: "1" });
  await rig.clock.advance(retained - 1);
  await rig.expiry.pass();
  expect(rig.status(id)).toBe("COMPLETED");
  await rig.clock.advance(1);
  await rig.expiry.pass();
  expect(rig.store.find(id)).toBeUndefined();
});

test("readers do not find a job with an expired ttl, even before the next pass", async () => {
  const rig = rigOf();
  const job = rig.newJob({ expiresAt: rig.clock.now() + 10_000 });
  await rig.jobs.submit(job);
  await rig.clock.advance(10_000);
  expect(rig.status(job.id)).toBeUndefined();
  const taken: string[] = [];
  const deliver: WaitingWorker["deliver"] = (deliveries) => void taken.push(...deliveries.map((one) => one.job.id));
  rig.jobs.wait("endpoint", { workerId: "w", deliver });
  const next = rig.newJob();
  await rig.jobs.submit(next);
  expect(taken).toEqual([next.id]);
});

test("a running job with expired executionTimeout and ttl is removed even before the next pass", async () => {
  const rig = rigOf();
  const id = await rig.run({ executionTimeout: 5000, expiresAt: rig.clock.now() + 10_000 });
  await rig.clock.advance(9999);
  expect(rig.status(id)).toBe("IN_PROGRESS");
  await rig.clock.advance(1);
  expect(rig.status(id)).toBeUndefined();
  expect(await rig.jobs.cancel("endpoint", id)).toBeUndefined();
  await rig.expiry.pass();
  expect(rig.store.find(id)).toBeUndefined();
});

test("a job with an expired ttl is removed even while running, and its worker's results are ignored", async () => {
  const rig = rigOf();
  const removed: unknown[] = [];
  rig.events.on("removed", (job) => removed.push(job));
  const id = await rig.run({ expiresAt: rig.clock.now() + 10_000, webhook: "http://127.0.0.1:9/" });
  await rig.clock.advance(10_000);
  expect(await rig.jobs.progress(id, rig.worker, "1")).toBe(false);
  expect(await rig.jobs.finish(id, rig.worker, { output: "1" })).toBe(false);
  expect(await rig.jobs.requeue(id, rig.worker, "crashed", "x")).toBe(false);
  expect(rig.counters.read("endpoint")).toEqual({ COMPLETED: 0, FAILED: 0, CANCELLED: 0, TIMED_OUT: 0, retried: 0 });
  expect(rig.webhooks.dueHosts(Number.MAX_SAFE_INTEGER)).toEqual([]);
  await rig.expiry.pass();
  expect(rig.store.find(id)).toBeUndefined();
  // The event contains the worker's id, so that the worker can be stopped.
  expect(removed).toMatchObject([{ id, status: "IN_PROGRESS", workerId: "w" }]);
});

test.each(["a waiting", "a running"])(
  "%s job whose ttl expires by a change of the system time is removed",
  async (state) => {
    const rig = rigOf();
    rig.expiry.start();
    await rig.jobs.submit(submissionAt(rig.clock.now(), { executionTimeout: limits.executionTimeout.max }));
    if (state === "a running") await rig.take("endpoint", "worker");
    rig.clock.change(limits.ttl.default);
    await rig.clock.advance(10_000);
    await expect.poll(() => rig.active.get("job"), { interval: 5 }).toBeUndefined();
    await rig.expiry.stop();
  },
);

test("a job that is requeued in the transaction of its timeout is kept", async () => {
  const rig = rigOf();
  const id = await rig.run({ executionTimeout: 5000 });
  await rig.clock.advance(5000);
  await Promise.all([rig.jobs.requeue(id, rig.worker, "crashed", "lost"), rig.expiry.pass()]);
  expect(rig.status(id)).toBe("IN_QUEUE");
});

test("a started expiry runs on its own, even for a later job with an earlier end", async () => {
  const rig = rigOf();
  rig.expiry.start();
  await rig.run();
  const early = await rig.run({ executionTimeout: 5000 });
  await rig.clock.advance(5000);
  await expect.poll(() => rig.status(early), { interval: 5 }).toBe("TIMED_OUT");
  await rig.expiry.stop();
});

test("a started expiry removes expired jobs at the end of their sweep", async () => {
  const rig = rigOf(silent, 60_000);
  rig.expiry.start();
  const id = await rig.run();
  await rig.jobs.finish(id, rig.worker, { output: "1" });
  await rig.clock.advance(limits.retention.run + 60_000);
  await expect.poll(() => rig.store.find(id), { interval: 5 }).toBeUndefined();
  await rig.expiry.stop();
});

test("a job whose end cannot be written because of a lock ends in the next pass, and the failure is logged once", async () => {
  const logged: unknown[] = [];
  const rig = rigOf({ error: (line) => logged.push(line) });
  rig.expiry.start();
  // A webhook is a row, so the end requires a write to the store.
  const id = await rig.run({ executionTimeout: 5000, webhook: "http://127.0.0.1:9/" });
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
  await rig.expiry.stop();
});

test("the table of jobs is empty after hundreds of jobs have expired", async () => {
  const rig = rigOf();
  const ids = Array.from({ length: 600 }, () => rig.newJob());
  await Promise.all(ids.map((job) => rig.jobs.submit(job)));
  await Promise.all(ids.map(() => rig.take("endpoint", "w")));
  await Promise.all(ids.map(({ id }) => rig.jobs.finish(id, rig.worker, { output: "1" })));
  await rig.clock.advance(limits.retention.run);
  expect(await rig.expiry.pass()).toBeUndefined();
  expect(rig.store.endpoints()).toEqual([]);
  expect(rig.counters.read("endpoint").COMPLETED).toBe(600);
});

test("an alarm that is stopped before its time does not run", async () => {
  const { steady } = rigOf();
  let runs = 0;
  const work = async () => ++runs * 1000 + steady.now();
  const alarm = createScheduler(steady, work, () => undefined);
  alarm.start();
  await expect.poll(() => runs).toBe(1);
  await alarm.stop();
  expect(runs).toBe(1);
});

test.each(["unfinished", "finished"])("a later ttl counts from the submission: an %s job", async (state) => {
  const rig = rigOf();
  const id = await rig.run();
  if (state === "finished") await rig.jobs.finish(id, rig.worker, { output: "1" });
  await rig.clock.advance(1000);
  await rig.jobs.setTtl("endpoint", id, 5000);
  expect(await rig.expiry.pass()).toBe(rig.clock.now() + 4000);
  await rig.clock.advance(3999);
  expect(rig.status(id)).toBeDefined();
  await rig.clock.advance(1);
  expect(rig.status(id)).toBeUndefined();
  await rig.expiry.pass();
  expect(rig.list.get(id)).toBeUndefined();
});

test("a new ttl of a missing job changes nothing", async () => {
  const rig = rigOf();
  await rig.jobs.setTtl("endpoint", "missing", 5000);
  expect(rig.list.get("missing")).toBeUndefined();
});
