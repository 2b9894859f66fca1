import { EventEmitter } from "node:events";
import type { FinalJob, Job, LiveJob, QueuedJob, RunningJob } from "./job";

/** Events of jobs and their workers, each emitted once, after the commit. Listeners must not depend on their order. */
interface JobEventMap {
  /** A job waits for a worker. */
  queued: [job: QueuedJob];
  started: [job: RunningJob];
  /** Stream chunks arrived. */
  streamed: [job: RunningJob];
  /** A job is over; `before` is its previous state. */
  ended: [job: FinalJob, before: Job, output: string | undefined];
  ttlChanged: [job: Job];
  /** An unfinished job was removed. */
  removed: [job: LiveJob];
  /** A worker of the endpoint ended before its first job-take, or could not be started. */
  startFailed: [endpointId: string];
}
export type JobEvents = EventEmitter<JobEventMap>;
export const createJobEvents = (): JobEvents => new EventEmitter<JobEventMap>();
