import { describe, expect, test } from "vitest";
import { type JobFilter, maxSeq } from "../../../../service/queue/list";
import { useJobs } from "./support/queue-rig";

/** Creates a queued, a running, a completed and two failed jobs. */
async function searchRig() {
  const rig = useJobs();
  async function end(id: string, outcome: { error: string } | { output: string }): Promise<void> {
    await rig.run({ id });
    await rig.jobs.finish(id, rig.worker, { output: undefined, ...outcome });
  }
  await end("01-aaaa-done", { output: "1" });
  await end("02-bbbb-oom", { error: "RuntimeError: CUDA out of memory (100%_\\)" });
  await end("03-cccc-oom", { error: "the model is not there" });
  await rig.run({ id: "04-dddd-runs" });
  await rig.jobs.submit(rig.newJob({ id: "05-eeee-waits" }));
  await rig.jobs.submit(rig.newJob({ id: "06-other-oom", endpointId: "another" }));
  const ids = async (filter: JobFilter, before = maxSeq, limit = 10) =>
    (await rig.list.search("endpoint", filter, before, limit)).jobs.map(({ id }) => id);
  return { ...rig, ids };
}

describe("the search for an endpoint's jobs", () => {
  test("matches the state, any part of the id, and the text of the error", async () => {
    const { ids } = await searchRig();
    expect(await ids({})).toEqual(["05-eeee-waits", "04-dddd-runs", "03-cccc-oom", "02-bbbb-oom", "01-aaaa-done"]);
    expect(await ids({ status: "FAILED" })).toEqual(["03-cccc-oom", "02-bbbb-oom"]);
    expect(await ids({ status: "IN_PROGRESS" })).toEqual(["04-dddd-runs"]);
    expect(await ids({ text: "bbbb" })).toEqual(["02-bbbb-oom"]);
    expect(await ids({ text: "-OOM" })).toEqual(["03-cccc-oom", "02-bbbb-oom"]);
    expect(await ids({ text: "cuda OUT" })).toEqual(["02-bbbb-oom"]);
    expect(await ids({ status: "COMPLETED", text: "-oom" })).toEqual([]);
    expect(await ids({ text: "runs" }), "only ids and errors are searched").toEqual(["04-dddd-runs"]);
  });

  test("returns the input of a job only for its endpoint", async () => {
    const { list } = await searchRig();
    expect(list.input("endpoint", "04-dddd-runs")).toBe("{}");
    expect(list.input("another", "04-dddd-runs")).toBeUndefined();
  });

  test("matches %, _ and \\ literally", async () => {
    const { ids } = await searchRig();
    expect(await ids({ text: "100%_\\" })).toEqual(["02-bbbb-oom"]);
    for (const text of ["%", "_", "\\"]) expect(await ids({ text }), text).toEqual(["02-bbbb-oom"]);
    expect(await ids({ text: "0_-" })).toEqual([]);
  });

  test("pages through the matching jobs only", async () => {
    const { list } = await searchRig();
    const first = await list.search("endpoint", { text: "-oom" }, maxSeq, 1);
    expect(first.jobs.map(({ id }) => id)).toEqual(["03-cccc-oom"]);
    const second = await list.search("endpoint", { text: "-oom" }, first.before ?? 0, 1);
    expect(second.jobs.map(({ id }) => id)).toEqual(["02-bbbb-oom"]);
    expect(second.before).toBeUndefined();
  });

  test("finds jobs beyond the first batch", async () => {
    const { database, ids } = await searchRig();
    database.prepare("UPDATE jobs SET seq = seq + 1000000 WHERE seq > 2").run();
    const copies = database.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
        INSERT INTO jobs SELECT i, 'copy-' || i, endpoint_id, status, finished_at, due_at, record, output, input, s3_config
        FROM n, (SELECT * FROM jobs WHERE seq = 1)`,
    );
    expect(copies.run()).toBe(24_998);
    expect(await ids({ status: "FAILED" })).toEqual(["03-cccc-oom", "02-bbbb-oom"]);
    expect(await ids({ text: "aaaa" })).toEqual(["01-aaaa-done"]);
  });

  test("lists the jobs that /retry accepts, oldest first, without expired jobs", async () => {
    const { list, clock, ids } = await searchRig();
    expect(await list.retryable("endpoint", {})).toEqual(["02-bbbb-oom", "03-cccc-oom"]);
    expect(await list.retryable("endpoint", { text: "cuda" })).toEqual(["02-bbbb-oom"]);
    expect(await list.retryable("endpoint", { status: "COMPLETED" })).toEqual([]);
    clock.advance(60 * 60 * 1000);
    expect(await list.retryable("endpoint", {})).toEqual([]);
    expect(await ids({ status: "FAILED" })).toEqual([]);
  });
});
