import type { Clock } from "serverless-compute-api/clock";
import type { JobDeadlines } from "./deadlines";
import type { Job, JobWorker, RunningJob } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { StoredJob } from "./row";
import type { JobStore } from "./store";

export type JobRecords = ReturnType<typeof createJobRecords>;

/** All jobs: unfinished jobs from memory, finished jobs from the store. */
export function createJobRecords(
  live: LiveJobs,
  store: Pick<JobStore, "find" | "page" | "progress">,
  clock: Clock,
  { isExpired }: Pick<JobDeadlines, "isExpired">,
) {
  const isVisible = (job: Job): boolean => !isExpired(job);
  return {
    /** Returns whether the job is visible to clients. An expired job is hidden even before the supervisor removes it. */
    isVisible,

    /** The job with its output, if it is visible to clients. */
    find(endpointId: string, id: string): StoredJob | undefined {
      const job = live.get(id);
      const hasOutput = job?.status === "IN_PROGRESS" && job.hasOutput;
      const found = job ? { job, output: hasOutput ? store.progress(job.seq) : undefined } : store.find(id);
      return found?.job.endpointId === endpointId && isVisible(found.job) ? found : undefined;
    },

    /** Stored jobs of the endpoint with numbers below `before`, newest first, including expired jobs. */
    page: store.page,

    /** The job, even if it is hidden from clients. */
    get: (id: string): Job | undefined => live.get(id) ?? store.find(id)?.job,

    /** The job, if it runs on this worker and its ttl has not expired. */
    findRunning(id: string, worker: JobWorker): RunningJob | undefined {
      const job = live.get(id);
      if (job?.status !== "IN_PROGRESS" || job.expiresAt <= clock.now()) return undefined;
      return job.workerId === worker.id && job.endpointId === worker.endpointId ? job : undefined;
    },
  };
}
