import { EventEmitter } from "node:events";
import type { FinalJob, Job, LiveJob, QueuedJob, RunningJob } from "./job";

/** Events of jobs and their workers, emitted after the commit, except the start of a job at a worker that ends with the service. The order of listeners has no meaning. */
interface JobEventMap {
  /** A job waits for a worker. */
  queued: [job: QueuedJob];
  started: [job: RunningJob];
  /** Stream chunks arrived. */
  streamed: [job: RunningJob];
  /** A job is over; `before` is its previous state. */
  ended: [job: FinalJob, before: Job, output: string | undefined];
  /** A job's ttl changed. */
  retimed: [job: Job];
  /** A job that was not over left the record. */
  removed: [job: LiveJob];
  /** A worker of an endpoint ended before it requested a job, or could not be started. */
  startFailed: [endpointId: string];
}
export type JobEvents = EventEmitter<JobEventMap>;
export const createJobEvents = (): JobEvents => new EventEmitter<JobEventMap>();
