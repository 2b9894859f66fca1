import type { Job } from "../jobs/job";
import type { JobRecords } from "../jobs/records";

/** Total length of records at which a page ends regardless of its limit, in characters: outputs may be 20 MB each. */
const maxPageSize = 8 * 1024 * 1024;

/** Rows per query; a page may end long before its limit. */
const batchSize = 50;

/**
 * Reads a page of /requests: up to `limit` jobs of the endpoint before `cursor`, newest first; as many as fit, but at least one. Also
 * returns the cursor of the next page, which is undefined on the last page.
 */
export function readPage(
  { page, isVisible }: Pick<JobRecords, "page" | "isVisible">,
  endpointId: string,
  cursor: number,
  limit: number,
  recordOf: (job: Job, output: string | undefined) => string,
): { records: string[]; cursor: number | undefined } {
  const records: string[] = [];
  let position = cursor;
  for (let size = 0; ; ) {
    // One extra row shows whether there is another page.
    const count = Math.min(batchSize, limit - records.length + 1);
    const rows = page(endpointId, position, count);
    for (const { job, output } of rows) {
      if (records.length === limit) return { records, cursor: position };
      if (isVisible(job)) {
        const record = recordOf(job, output);
        size += record.length;
        if (records.length > 0 && size > maxPageSize) return { records, cursor: position };
        records.push(record);
      }
      position = job.seq;
    }
    if (rows.length < count) return { records, cursor: undefined };
  }
}
