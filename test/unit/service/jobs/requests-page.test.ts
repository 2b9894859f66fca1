import { expect, onTestFinished, test } from "vitest";
import { readPage } from "../../../../service/api/requests-page";
import { openJobsRig } from "./support/jobs-rig";

/** A ledger with `count` jobs that ended with outputs of `size` characters each; the pages of /requests with a limit. */
async function rigOf(count: number, size: number) {
  const rig = openJobsRig();
  onTestFinished(() => rig.close());
  for (let at = 0; at < count; at++) {
    const job = rig.newJob();
    await rig.jobs.submit(job);
    await rig.jobs.take("endpoint", "w", 1);
    await rig.jobs.finish(job.id, "w", { output: JSON.stringify("x".repeat(size)) });
  }
  const read = { outputs: 0 };
  const pages = (limit: number): string[][] => {
    const all: string[][] = [];
    for (let cursor: number | undefined = Number.MAX_SAFE_INTEGER; cursor !== undefined; ) {
      const page = readPage(rig.records, "endpoint", cursor, limit, ({ id }, output) => {
        read.outputs++;
        return `${id}${output}`;
      });
      all.push(page.records.map((record) => record.replace(/".*/, "")));
      cursor = page.cursor;
    }
    return all;
  };
  return { pages, read };
}

test("pages contain every job once, newest first, and the last one has no cursor", async () => {
  const { pages } = await rigOf(7, 1);
  expect(pages(3)).toEqual([["job-7", "job-6", "job-5"], ["job-4", "job-3", "job-2"], ["job-1"]]);
  expect(pages(7)).toHaveLength(1);
  expect(pages(1000).flat()).toHaveLength(7);
});

test("a page ends early if its records become too large, and reads no further outputs", async () => {
  const { pages, read } = await rigOf(7, 3 * 1024 * 1024);
  expect(pages(1000)).toEqual([["job-7", "job-6"], ["job-5", "job-4"], ["job-3", "job-2"], ["job-1"]]);
  expect(read.outputs).toBeLessThanOrEqual(7 + 3);
});

test("a record larger than a page is a page of its own", async () => {
  const { pages } = await rigOf(2, 10 * 1024 * 1024);
  expect(pages(1000)).toEqual([["job-2"], ["job-1"]]);
});
