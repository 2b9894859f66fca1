import type { Job } from "../jobs/job";
import type { JobRecords } from "../jobs/records";

/** Total length of records at which a page ends regardless of its limit, in characters: outputs may be 20 MB each. */
const maxPageSize = 8 * 1024 * 1024;

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
    // One by one, because a page may end after the first. One extra row shows whether there is another page.
    const [row] = page(endpointId, position, 1);
    if (!row) return { records, cursor: undefined };
    if (records.length === limit) return { records, cursor: position };
    const { job, output } = row;
    if (isVisible(job)) {
      const record = recordOf(job, output);
      size += record.length;
      if (records.length > 0 && size > maxPageSize) return { records, cursor: position };
      records.push(record);
    }
    position = job.seq;
  }
}
