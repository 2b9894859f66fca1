import type { Job } from "./job";
import type { JobRecords } from "./records";
import type { JobStore } from "./store";

/** One page of an endpoint's jobs. `before` is the cursor of the next page; undefined on the last page. */
export interface JobPage {
  jobs: Job[];
  before: number | undefined;
}

export type JobView = ReturnType<typeof createJobView>;

/** Lists of jobs without inputs and outputs, for the console. */
export function createJobView({
  records,
  store,
}: {
  records: Pick<JobRecords, "find" | "isVisible">;
  store: Pick<JobStore, "summaries" | "payload">;
}) {
  return {
    /** Up to `limit` jobs of the endpoint with numbers below `before`, newest first. */
    page(endpointId: string, before: number, limit: number): JobPage {
      // One extra row shows whether there is another page.
      const rows = store.summaries(endpointId, before, limit + 1);
      const shown = rows.slice(0, limit);
      const next = rows.length > limit ? shown.at(-1)?.seq : undefined;
      return { jobs: shown.filter(records.isVisible), before: next };
    },
    /** The input of a job as JSON text; undefined if the job does not exist. */
    input: (endpointId: string, jobId: string): string | undefined => {
      const found = records.find(endpointId, jobId);
      return found && store.payload(found.job.seq)?.input;
    },
  };
}
