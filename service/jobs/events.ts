import { EventEmitter } from "node:events";
import type { FinalJob, Job, LiveJob, QueuedJob, RunningJob } from "./job";

/** What happened to jobs, once it is durable or nobody was promised it. No listener depends on another one. */
export interface JobEventMap {
  /** A job waits for a worker. */
  queued: [job: QueuedJob];
  started: [job: RunningJob];
  /** Stream chunks came in. */
  streamed: [job: RunningJob];
  /** A job is over; `before` is what it was until then. */
  ended: [job: FinalJob, before: Job, output: string | undefined];
  /** A job's ttl changed. */
  retimed: [job: Job];
  /** A job that was not over left the record. */
  removed: [job: LiveJob];
}
export type JobEvents = EventEmitter<JobEventMap>;
export const createJobEvents = (): JobEvents => new EventEmitter<JobEventMap>();
