import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Database } from "../../../../service/store/database";
import { openJobs, openJobsRig } from "./support/jobs-rig";

/** Jobs, the rows of their table, and the jobs that a service loads after a kill. */
function rigOf() {
  const rig = openJobsRig();
  onTestFinished(() => rig.close());
  const stored = (database: Database = rig.database) =>
    database
      .query("SELECT id, status FROM jobs ORDER BY seq", z.object({ id: z.string(), status: z.string() }))
      .all()
      .map(({ id, status }) => `${id} ${status}`);
  const run = async (fields: Parameters<typeof rig.newJob>[0] = {}) => {
    const job = await rig.jobs.submit(rig.newJob(fields));
    await rig.jobs.take("endpoint", "w", 1);
    return job.id;
  };
  return { ...rig, stored, run };
}

test("an acknowledged change is stored and survives a kill", async () => {
  const rig = rigOf();
  const done = await rig.run({ input: '{\n "a": "ü\\n"}' });
  const failed = await rig.run({ s3Config: '{"bucketName": "b"}' });
  await rig.jobs.finish(done, "w", { output: '{\n"b": 1}' });
  await rig.jobs.finish(failed, "w", { error: "no", output: undefined });
  expect(rig.stored()).toEqual([`${done} COMPLETED`, `${failed} FAILED`]);
  for (const life of [rig, rig.afterKill()]) {
    expect(life.records.find("endpoint", done)).toMatchObject({ job: { status: "COMPLETED" }, output: '{\n"b": 1}' });
    expect(life.records.find("endpoint", failed)).toMatchObject({ job: { status: "FAILED", error: "no" } });
    expect(life.store.payload(1)?.input).toBe('{\n "a": "ü\\n"}');
    expect(life.store.payload(2)?.s3Config).toBe('{"bucketName": "b"}');
    expect(life.counters.read("endpoint")).toEqual({ completed: 1, failed: 1, retried: 0 });
  }
});

test("a removed job does not return after a kill", async () => {
  const rig = rigOf();
  await rig.jobs.submit(rig.newJob({ endpointId: "other" }));
  await rig.jobs.submit(rig.newJob());
  expect(await rig.jobs.purge("endpoint")).toBe(1);
  await rig.jobs.forget("other");
  const { database } = rig.afterKill();
  expect(rig.stored(database)).toEqual([]);
});

test.each([
  ["SQLITE_FULL", "storeFull", "disk full"],
  ["SQLITE_READONLY", "storeUnavailable", "data folder is read-only"],
  ["SQLITE_BUSY", "storeUnavailable", "store is locked"],
])(
  "a submission that fails with %s is rejected immediately with the reason, whatever its operation",
  async (code, kind, reason) => {
    const rig = rigOf();
    rig.lockStore(code);
    for (const operation of ["run", "runsync", "openai"] as const) {
      const error = { code: kind, message: expect.stringContaining(reason) };
      await expect(rig.jobs.submit(rig.newJob({ operation }))).rejects.toMatchObject(error);
    }
    expect(rig.live.size).toBe(0);
  },
);

test("a change that cannot be stored is rejected, and memory is unchanged", async () => {
  const rig = rigOf();
  const running = await rig.run();
  const unlock = rig.lockStore();
  await expect(rig.jobs.submit(rig.newJob())).rejects.toThrow("store is locked");
  await expect(rig.jobs.finish(running, "w", { output: "1" })).rejects.toThrow("store is locked");
  unlock();
  expect(rig.live.waiting("endpoint")).toBe(0);
  expect(rig.records.find("endpoint", running)?.job.status).toBe("IN_PROGRESS");
  expect(rig.counters.read("endpoint").completed).toBe(0);
  expect(await rig.jobs.finish(running, "w", { output: "2" })).toBe(true);
  expect(rig.afterKill().records.find("endpoint", running)).toMatchObject({ output: "2" });
});

test("a failed removal leaves the counters unchanged", async () => {
  const rig = rigOf();
  await rig.jobs.finish(await rig.run(), "w", { output: "1" });
  const unlock = rig.lockStore();
  await expect(rig.jobs.forget("endpoint")).rejects.toThrow("store is locked");
  unlock();
  expect(rig.counters.read("endpoint").completed).toBe(1);
});

test("a running job whose worker outlives the service keeps its worker; the others are requeued", async () => {
  const rig = rigOf();
  const kept = await rig.run();
  await rig.jobs.submit(rig.newJob({ id: "lost" }));
  await rig.jobs.take("endpoint", "other", 1);
  const life = openJobs(rig.killed(), rig.clock);
  expect(life.recover((worker) => worker === "w").kept.map(({ id }) => id)).toEqual([kept]);
  expect(life.records.find("endpoint", kept)?.job).toMatchObject({ status: "IN_PROGRESS", workerId: "w" });
  expect(life.records.find("endpoint", "lost")?.job).toMatchObject({ status: "IN_QUEUE", hasOutput: false });
});

test("a client that leaves ends its own wait and no other", async () => {
  const rig = rigOf();
  const id = await rig.run();
  const ended: string[] = [];
  const [leave] = ["first", "second"].map((name) => rig.waits.wait(id, 60_000, () => void ended.push(name)));
  leave?.();
  await rig.jobs.finish(id, "w", { output: "1" });
  expect(ended).toEqual(["second"]);
});

test.each([
  ["a status that contradicts its times", "status = 'COMPLETED'", "state"],
  ["an unknown status", "status = 'LOST'", "status"],
  ["a webhook that is not a text", "record = json_set(record, '$[9]', 7)", "webhook"],
  ["a record that is not a list", "record = '{}'", "row"],
])("a job with %s in the store is an error", async (_what, change, column) => {
  const rig = rigOf();
  await rig.jobs.submit(rig.newJob());
  const database = rig.killed();
  database.prepare(`UPDATE jobs SET ${change}`).run();
  expect(() => openJobs(database).recover(() => false)).toThrow(`the store has a job whose ${column} cannot be read`);
});
