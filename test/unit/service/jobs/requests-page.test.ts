import { expect, test } from "vitest";
import { readPage } from "../../../../service/api/requests-page";
import { useJobs } from "./support/jobs-rig";

const megabyte = 1024 * 1024;

/** Ends jobs with outputs of these sizes, and returns the pages of /requests and the number of outputs read. */
async function pagesOf(sizes: number[], limit: number) {
  const rig = useJobs();
  for (const size of sizes) {
    const id = await rig.run();
    await rig.jobs.finish(id, rig.worker, { output: JSON.stringify("x".repeat(size)) });
  }
  const pages: string[][] = [];
  let outputs = 0;
  for (let cursor: number | undefined = Number.MAX_SAFE_INTEGER; cursor !== undefined; ) {
    const page = readPage(rig.records, "endpoint", cursor, limit, ({ id }, output) => {
      outputs++;
      return `${id}${output}`;
    });
    pages.push(page.records.map((record) => record.replace(/".*/, "")));
    cursor = page.cursor;
  }
  return { pages, outputs };
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
  const { jobs, records, database, run, worker } = useJobs();
  for (const size of [9, 1, 9, 9, 9]) {
    const id = await run();
    const outcome = size === 1 ? { error: "x" } : { output: JSON.stringify("x".repeat(size * megabyte)) };
    await jobs.finish(id, worker, { output: undefined, ...outcome });
  }
  database
    .prepare("UPDATE jobs SET record = json_set(record, '$[12]', printf('%.*c', ?, 'x')) WHERE status = 'FAILED'")
    .run(9 * megabyte);
  const reads: number[] = [];
  for (let cursor: number | undefined = Number.MAX_SAFE_INTEGER; cursor !== undefined; ) {
    let read = 0;
    const page: typeof records.page = (...query) => {
      const rows = records.page(...query);
      read += rows.length;
      return rows;
    };
    const view = { isVisible: records.isVisible, page };
    cursor = readPage(view, "endpoint", cursor, 100, ({ error }, output) => `${error}${output}`).cursor;
    reads.push(read);
  }
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
