import type { Clock } from "serverless-compute-api/clock";
import type { JobDeadlines } from "./deadlines";
import type { Job, RunningJob } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { StoredJob } from "./row";
import type { JobStore } from "./store";

export interface JobRecordsDeps {
  live: LiveJobs;
  store: JobStore;
  clock: Clock;
  deadlines: Pick<JobDeadlines, "isGone">;
}

export type JobRecords = ReturnType<typeof createJobRecords>;

/** The jobs as they are now: those that are not over from memory, the others from the store. */
export function createJobRecords({ live, store, clock, deadlines }: JobRecordsDeps) {
  const isVisible = (job: Job): boolean => !deadlines.isGone(job, clock.now());
  return {
    /** Whether clients see the job: what is due is over, even when the supervisor comes a moment later. */
    isVisible,

    /** The job as clients see it. */
    find(endpointId: string, id: string): StoredJob | undefined {
      const job = live.get(id);
      const hasOutput = job?.status === "IN_PROGRESS" && job.hasOutput;
      const found = job ? { job, output: hasOutput ? store.progress(job.seq) : undefined } : store.find(id);
      return found?.job.endpointId === endpointId && isVisible(found.job) ? found : undefined;
    },

    /** The endpoint's jobs, newest first, older than number `before`; those whose time is over included. */
    page: store.page,

    /** The job, whether clients still see it or not. */
    get: (id: string): Job | undefined => live.get(id) ?? store.find(id)?.job,

    /** The job when this worker runs it. Whose ttl is over is removed, whatever its worker still says. */
    runBy(id: string, workerId: string): RunningJob | undefined {
      const job = live.get(id);
      const isThere = job?.status === "IN_PROGRESS" && job.workerId === workerId && job.expiresAt > clock.now();
      return isThere ? job : undefined;
    },
  };
}
