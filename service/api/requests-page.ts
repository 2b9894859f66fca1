import type { Job } from "../jobs/job";
import type { JobRecords } from "../jobs/records";

/** Characters of records after which a page ends, whatever its limit: outputs may be 20 MB each. */
const pageSize = 8 * 1024 * 1024;

/** Rows read at once: a page may end long before its limit. */
const batch = 50;

/**
 * A page of /requests: the endpoint's jobs before `cursor`, newest first, `limit` of them, or as many as fit into a page, at least
 * one; and where the next page begins, undefined on the last one.
 */
export function readPage(
  { page, isVisible }: Pick<JobRecords, "page" | "isVisible">,
  endpointId: string,
  cursor: number,
  limit: number,
  recordOf: (job: Job, output: string | undefined) => string,
): { records: string[]; cursor: number | undefined } {
  const records: string[] = [];
  let before = cursor;
  for (let size = 0; ; ) {
    // One more than the page may have, to know whether there is another page.
    const wanted = Math.min(batch, limit - records.length + 1);
    const rows = page(endpointId, before, wanted);
    for (const { job, output } of rows) {
      if (records.length === limit) return { records, cursor: before };
      if (isVisible(job)) {
        const record = recordOf(job, output);
        size += record.length;
        if (records.length > 0 && size > pageSize) return { records, cursor: before };
        records.push(record);
      }
      before = job.seq;
    }
    if (rows.length < wanted) return { records, cursor: undefined };
  }
}
