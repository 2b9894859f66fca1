import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Database } from "../../../../service/store/database";
import { openJobsRig } from "./support/jobs-rig";

/** Jobs, what their tables have, and what a service finds that starts after a kill. */
function rigOf() {
  const rig = openJobsRig();
  onTestFinished(() => rig.close());
  const inTables = (database: Database = rig.database) =>
    database
      .query("SELECT id, status FROM jobs ORDER BY seq", z.object({ id: z.string(), status: z.string() }))
      .all()
      .map(({ id, status }) => `${id} ${status}`);
  const run = async (fields: Parameters<typeof rig.newJob>[0] = {}) => {
    const job = await rig.jobs.submit(rig.newJob(fields));
    await rig.jobs.take("endpoint", "w", 1);
    return job?.id ?? "";
  };
  const afterKill = () => {
    const life = rig.afterKill();
    return { ...life, inTables: inTables(life.database) };
  };
  return { ...rig, inTables, run, afterKill };
}

test("what was promised is durable before the tables have it, and whoever asks sees it", async () => {
  const rig = rigOf();
  const done = await rig.run({ input: '{\n "a": "ü\\n"}' });
  const failed = await rig.run();
  await rig.jobs.finish(done, "w", { output: '{\n"b": 1}' });
  await rig.jobs.finish(failed, "w", { error: "no", output: undefined });
  expect(rig.inTables()).toEqual([]);
  for (const life of [rig, rig.afterKill()]) {
    expect(life.records.find("endpoint", done)).toMatchObject({ job: { status: "COMPLETED" }, output: '{\n"b": 1}' });
    expect(life.records.find("endpoint", failed)).toMatchObject({ job: { status: "FAILED", error: "no" } });
    expect(life.store.payload(1)?.input).toBe('{\n "a": "ü\\n"}');
    expect(life.counters.read("endpoint")).toEqual({ completed: 1, failed: 1, retried: 0 });
  }
});

test("the tables have it after the next write of any kind, once, and the log is empty", async () => {
  const rig = rigOf();
  const [first, second] = [await rig.run(), await rig.run()];
  await rig.jobs.finish(first, "w", { output: "1" });
  await rig.jobs.progress(second, "w", '"half"');
  expect(rig.inTables()).toEqual([`${first} COMPLETED`, `${second} IN_PROGRESS`]);
  expect(rig.database.redoLog.isEmpty()).toBe(true);
  await rig.jobs.finish(second, "w", { output: "2" });
  rig.jobs.writeLogged();
  expect([rig.database.redoLog.isEmpty(), rig.inTables()]).toEqual([
    true,
    [`${first} COMPLETED`, `${second} COMPLETED`],
  ]);
  const life = rig.afterKill();
  expect(life.inTables).toEqual([`${first} COMPLETED`, `${second} COMPLETED`]);
  expect(life.counters.read("endpoint").completed).toBe(2);
});

test("a job that was removed does not come back by a kill", async () => {
  const rig = rigOf();
  await rig.jobs.submit(rig.newJob({ endpointId: "other" }));
  await rig.jobs.submit(rig.newJob());
  expect(await rig.jobs.purge("endpoint")).toBe(1);
  await rig.jobs.forget("other");
  expect(rig.afterKill().inTables).toEqual([]);
});

test("a result is deleted after its time, also when only the log has it", async () => {
  const rig = rigOf();
  const id = await rig.run();
  await rig.jobs.finish(id, "w", { output: "1" });
  const dueAt = rig.store.nextExpiry() ?? 0;
  expect(dueAt).toBeGreaterThan(rig.clock.now());
  const late = await rig.run();
  await rig.jobs.finish(late, "w", { output: "1" });
  await rig.clock.advance(dueAt - rig.clock.now());
  expect(await rig.jobs.expire(9)).toBe(2);
  expect([rig.records.find("endpoint", id), rig.store.find(late)]).toEqual([undefined, undefined]);
});

test.each([
  ["many jobs", 5, "{}"],
  ["a long input", 1, JSON.stringify("x".repeat(70_000))],
])("%s at once go into the tables, with what was logged before", async (_what, count, input) => {
  const rig = rigOf();
  await rig.run();
  expect(rig.inTables()).toEqual([]);
  await Promise.all(Array.from({ length: count }, () => rig.jobs.submit(rig.newJob({ input }))));
  expect([rig.inTables().length, rig.database.redoLog.isEmpty()]).toEqual([count + 1, true]);
});

test("what the log cannot take is refused, and memory is as it was", async () => {
  const rig = rigOf();
  const running = await rig.run();
  rig.database.redoLog.close();
  await expect(rig.jobs.submit(rig.newJob())).rejects.toThrow("the store is closed");
  await expect(rig.jobs.finish(running, "w", { output: "1" })).rejects.toThrow("the store is closed");
  expect(rig.live.waiting("endpoint")).toBe(0);
  expect(rig.records.find("endpoint", running)?.job.status).toBe("IN_PROGRESS");
  expect(rig.counters.read("endpoint").completed).toBe(0);
});

test("tables that cannot be written lose nothing of what was logged", async () => {
  const rig = rigOf();
  const id = await rig.run();
  await rig.jobs.finish(id, "w", { output: "1" });
  const { transaction } = rig.database;
  rig.database.transaction = (work) =>
    transaction(() => {
      work();
      throw new Error("disk full");
    });
  expect(rig.jobs.writeLogged).toThrow("disk full");
  expect(rig.records.find("endpoint", id)).toMatchObject({ job: { status: "COMPLETED" }, output: "1" });
  rig.database.transaction = transaction;
  rig.jobs.writeLogged();
  expect([rig.inTables(), rig.database.redoLog.isEmpty()]).toEqual([[`${id} COMPLETED`], true]);
  expect(rig.afterKill().counters.read("endpoint").completed).toBe(1);
});

test("the input of a waiting job leaves memory with the job when its ttl is over", async () => {
  const rig = rigOf();
  const job = await rig.jobs.submit(rig.newJob({ expiresAt: rig.clock.now() + 10_000 }));
  rig.jobs.writeLogged();
  await rig.clock.advance(10_000);
  await rig.jobs.settle([job?.id ?? ""]);
  expect(rig.inTables()).toEqual([]);
  expect(rig.store.payload(job?.seq ?? 0)).toBe(undefined);
});
