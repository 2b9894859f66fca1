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

test("a page ends before 8 MB, reads no further outputs, and contains at least one record", async () => {
  const { pages, outputs } = await pagesOf(
    [1, 3, 3, 9, 1].map((size) => size * megabyte),
    1000,
  );
  expect(pages).toEqual([["job-5"], ["job-4"], ["job-3", "job-2", "job-1"]]);
  expect(outputs).toBe(5 + 2);
});
