import { describe, expect, test } from "vitest";
import { z } from "zod";
import { executionTime } from "../../../../service/queue/job";
import { createJobList, type JobFilter, maxSeq } from "../../../../service/queue/list";
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
  const ids = async (filter: JobFilter) =>
    (await rig.list.search("endpoint", filter, maxSeq, 10)).jobs.map(({ id }) => id);
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
    copies.run();
    expect(await ids({ status: "FAILED" })).toEqual(["03-cccc-oom", "02-bbbb-oom"]);
    expect(await ids({ text: "aaaa" })).toEqual(["01-aaaa-done"]);
  });

  test("returns jobs that change during a search in one consistent state, which matches the filter", async () => {
    const rig = useJobs();
    await rig.jobs.finish(await rig.run(), rig.worker, { output: "1" });
    // The search reads them after the other jobs, in many turns.
    const copies = `WITH RECURSIVE n (i) AS (SELECT -25000 UNION ALL SELECT i + 1 FROM n WHERE i < -1)
      INSERT INTO jobs SELECT i, 'copy' || i, endpoint_id, status, finished_at, due_at, record, output, input, s3_config
      FROM n, (SELECT * FROM jobs WHERE seq = 1)`;
    rig.database.prepare(copies).run();
    const id = await rig.run();
    await rig.clock.advance(1000);
    const search = rig.list.search("endpoint", { status: "IN_PROGRESS" }, maxSeq, 10);
    await rig.jobs.finish(id, rig.worker, { output: "1" });
    await rig.clock.advance(1000);
    const times = (await search).jobs.map((job) => [job.id, job.status, executionTime(job, rig.steady.now())]);
    expect(times).toEqual([[id, "IN_PROGRESS", 2000]]);
  });

  test("excludes a job that has started although its row has not changed", async () => {
    const { list, jobs, database, active, newJob } = useJobs();
    await jobs.submit(newJob({ id: "starts" }));
    await jobs.submit(newJob({ id: "waits" }));
    const delivered = new Promise((deliver) =>
      jobs.wait("endpoint", { workerId: "w", endsWithService: true, deliver }),
    );
    const inQueue = () => list.search("endpoint", { status: "IN_QUEUE" }, maxSeq, 10);
    const early = inQueue();
    expect(active.get("starts")?.status).toBe("IN_PROGRESS");
    const row = database.query("SELECT status FROM jobs WHERE id = 'starts'", z.object({ status: z.string() }));
    expect(row.get()).toEqual({ status: "IN_QUEUE" });
    expect((await early).jobs.map(({ id }) => id)).toEqual(["waits"]);
    await delivered;
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

const megabyte = 1024 * 1024;

/** A list that counts the rows that it reads from the store. */
function countingList({ database, active, store, deadlines, steady }: ReturnType<typeof useJobs>) {
  const reads = { rows: 0 };
  const previous: typeof store.previous = (...query) => {
    const row = store.previous(...query);
    if (row) reads.rows++;
    return row;
  };
  return { reads, list: createJobList(database, active, { ...store, previous }, deadlines.isExpired, steady) };
}

/** Reads all pages of the list. */
function readPages(list: ReturnType<typeof createJobList>, limit: number, onPage: () => void = () => undefined) {
  const pages: string[][] = [];
  for (let cursor: number | undefined = Number.MAX_SAFE_INTEGER; cursor !== undefined; ) {
    const page = list.results("endpoint", cursor, limit);
    pages.push(page.jobs.map(({ job }) => job.id));
    cursor = page.before;
    onPage();
  }
  return pages;
}

/** Ends jobs with outputs of these sizes, and returns the pages of /requests and the number of rows read. */
async function pagesOf(sizes: number[], limit: number) {
  const rig = useJobs();
  for (const size of sizes) {
    const id = await rig.run();
    await rig.jobs.finish(id, rig.worker, { output: JSON.stringify("x".repeat(size)) });
  }
  const { reads, list } = countingList(rig);
  const pages = readPages(list, limit);
  return { pages, outputs: reads.rows };
}

test.each([
  [3, [["job-7", "job-6", "job-5"], ["job-4", "job-3", "job-2"], ["job-1"]]],
  [7, [["job-7", "job-6", "job-5", "job-4", "job-3", "job-2", "job-1"]]],
])(
  "pages of up to %i jobs contain every job once, newest first, and the last page has no cursor",
  async (limit, all) => {
    expect((await pagesOf([1, 1, 1, 1, 1, 1, 1], limit)).pages).toEqual(all);
  },
);

test("a page reads at most one record beyond 8 MB from the store, for large outputs and for large errors of older releases", async () => {
  const rig = useJobs();
  const { jobs, database, run, worker } = rig;
  for (const size of [9, 1, 9, 9, 9]) {
    const id = await run();
    const outcome = size === 1 ? { error: "x" } : { output: JSON.stringify("x".repeat(size * megabyte)) };
    await jobs.finish(id, worker, { output: undefined, ...outcome });
  }
  database
    .prepare("UPDATE jobs SET record = json_set(record, '$[12]', printf('%.*c', ?, 'x')) WHERE status = 'FAILED'")
    .run(9 * megabyte);
  const { reads: counted, list } = countingList(rig);
  const reads: number[] = [];
  readPages(list, 100, () => {
    reads.push(counted.rows);
    counted.rows = 0;
  });
  expect(reads).toEqual([2, 2, 2, 2, 1]);
});

test("a page ends before 8 MB, reads no further outputs, and contains at least one record", async () => {
  const { pages, outputs } = await pagesOf(
    [1, 3, 3, 9, 1].map((size) => size * megabyte),
    1000,
  );
  expect(pages).toEqual([["job-5"], ["job-4"], ["job-3", "job-2", "job-1"]]);
  expect(outputs).toBe(5 + 2);
});

test("a page may contain exactly 8 MB, and not a byte more", async () => {
  const half = 4 * megabyte - '""'.length;
  expect((await pagesOf([half, half], 1000)).pages).toEqual([["job-2", "job-1"]]);
  expect((await pagesOf([half, half + 1], 1000)).pages).toEqual([["job-2"], ["job-1"]]);
});
