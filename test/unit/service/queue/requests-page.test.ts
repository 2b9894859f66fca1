import { expect, test } from "vitest";
import { createJobList } from "../../../../service/queue/list";
import { useJobs } from "./support/queue-rig";

const megabyte = 1024 * 1024;

/** A list that counts the rows that it reads from the store. */
function countingList({ database, active, store, deadlines }: ReturnType<typeof useJobs>) {
  const reads = { rows: 0 };
  const page: typeof store.page = (...query) => {
    const rows = store.page(...query);
    reads.rows += rows.length;
    return rows;
  };
  return { reads, list: createJobList(database, active, { ...store, page }, deadlines.isExpired) };
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
