import { EventEmitter } from "node:events";
import type { JobStatus } from "serverless-compute-api/shapes";
import type { FinalJob, Job, QueuedJob, RunningJob } from "./job";

/** What is left to tell of a job that left the record; `workerId` when it ran. */
export interface RemovedJob {
  id: string;
  endpointId: string;
  status: JobStatus;
  workerId?: string | undefined;
}

/** What the parts of the job path tell each other, said after it is durable. */
interface JobEventMap {
  /** A job came into the queue; `again` when it had been taken before. */
  queued: [job: QueuedJob, again: boolean];
  started: [job: RunningJob];
  /** Stream chunks came in. */
  streamed: [job: RunningJob];
  /** A job is over; `before` is what it was until then. */
  ended: [job: FinalJob, before: Job];
  /** A job's ttl changed. */
  retimed: [job: Job];
  /** A job left the record. */
  removed: [job: RemovedJob];
}

export type JobEvents = EventEmitter<JobEventMap>;

export const createJobEvents = (): JobEvents => new EventEmitter<JobEventMap>();
