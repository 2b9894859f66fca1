import type { Clock } from "serverless-compute-api/clock";
import type { JobDeadlines } from "./deadlines";
import type { Job, RunningJob } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { StoredJob } from "./row";
import type { JobStore } from "./store";

export type JobRecords = ReturnType<typeof createJobRecords>;

/** The current jobs: those that are not over from memory, the others from the store. */
export function createJobRecords(
  live: LiveJobs,
  store: Pick<JobStore, "find" | "page" | "progress">,
  clock: Clock,
  { isGone }: Pick<JobDeadlines, "isGone">,
) {
  const isVisible = (job: Job): boolean => !isGone(job, clock.now());
  return {
    /** True if clients see the job: an expired one is gone, even before the supervisor removes it. */
    isVisible,

    /** The job, if clients see it. */
    find(endpointId: string, id: string): StoredJob | undefined {
      const job = live.get(id);
      const hasOutput = job?.status === "IN_PROGRESS" && job.hasOutput;
      const found = job ? { job, output: hasOutput ? store.progress(job.seq) : undefined } : store.find(id);
      return found?.job.endpointId === endpointId && isVisible(found.job) ? found : undefined;
    },

    /** The endpoint's jobs in the store, newest first, older than number `before`; includes expired ones. */
    page: store.page,

    /** The job, whether clients see it or not. */
    get: (id: string): Job | undefined => live.get(id) ?? store.find(id)?.job,

    /** The job, if this worker runs it and its ttl is not over. */
    runBy(id: string, workerId: string): RunningJob | undefined {
      const job = live.get(id);
      const isThere = job?.status === "IN_PROGRESS" && job.workerId === workerId && job.expiresAt > clock.now();
      return isThere ? job : undefined;
    },
  };
}
