import type { Job } from "./job";
import type { JobRecords } from "./records";
import type { JobFilter, JobSearch } from "./search";
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
  search,
}: {
  records: Pick<JobRecords, "find" | "isVisible">;
  store: Pick<JobStore, "payload">;
  search: JobSearch;
}) {
  return {
    /** Up to `limit` matching jobs of the endpoint with numbers below `before`, newest first. */
    async page(endpointId: string, filter: JobFilter, before: number, limit: number): Promise<JobPage> {
      // One extra row shows whether there is another page.
      const rows = await search.find(endpointId, filter, before, limit + 1);
      const shown = rows.slice(0, limit);
      const next = rows.length > limit ? shown.at(-1)?.seq : undefined;
      return { jobs: shown.filter(records.isVisible), before: next };
    },
    /** Ids of all jobs that match and that /retry accepts, the oldest first. */
    retryable: async (endpointId: string, filter: JobFilter): Promise<string[]> =>
      (await search.retryable(endpointId, filter)).filter(records.isVisible).map(({ id }) => id),
    /** The input of a job as JSON text; undefined if the job does not exist. */
    input: (endpointId: string, jobId: string): string | undefined => {
      const found = records.find(endpointId, jobId);
      return found && store.payload(found.job.seq)?.input;
    },
  };
}
