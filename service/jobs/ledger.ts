import type { NewJob } from "../store/jobs";
import type { Job, QueuedJob, RunningJob, TakenJob } from "./job";

/** How a worker answered a job; `output` is JSON text. */
export type JobOutcome = { output: string | undefined } | { error: string; output: string | undefined };

/** Why a job goes back into the queue. A crash counts against the job; `undelivered` counts nowhere, since nobody ran it. */
export type GiveBackReason = "crashed" | "interrupted" | "undelivered";

/** The record of all jobs: every move of a job is a method here, durable when it answers and told as an event. */
export interface Ledger {
  find(endpointId: string, id: string): Job | undefined;
  /** Puts a job into the queue; undefined when its endpoint is gone. */
  submit(job: NewJob): Promise<QueuedJob | undefined>;
  /** Gives a waiting job to a worker; undefined when it does not wait any more. */
  take(id: string, workerId: string): Promise<TakenJob | undefined>;
  /** Ends a job with its worker's answer; false when the job is not that worker's any more. */
  finish(id: string, workerId: string, outcome: JobOutcome): Promise<boolean>;
  /** Keeps a running job's progress update (JSON text). */
  progress(id: string, workerId: string, output: string): Promise<boolean>;
  /** Takes a job back from its worker: into the queue, or to its end after too many crashes. */
  giveBack(id: string, workerId: string, reason: GiveBackReason, error: string): Promise<boolean>;
  /** Fails a waiting job whose workers do not come up. */
  refuse(id: string, error: string): Promise<boolean>;
  /** Cancels a job that is not over; answers the job as it is then. */
  cancel(endpointId: string, id: string): Promise<Job | undefined>;
  /** Queues a failed or timed-out job again; `retried` tells whether it could be. */
  retry(endpointId: string, id: string): Promise<{ job: Job; retried: boolean } | undefined>;
  /** Removes the waiting jobs and answers how many. */
  purge(endpointId: string): Promise<number>;
  /** Sets the time from submission to removal, ms. */
  setTtl(endpointId: string, id: string, ttl: number): Promise<void>;
  /** Does to jobs what time asks for by now, and answers when there is more to do. */
  settleDue(): Promise<number | undefined>;
  /**
   * Queues again what ran when the service ended, but for the jobs of workers that outlived it: those still run and are
   * answered. Before anything else.
   */
  recover(outlives: (workerId: string) => boolean): RunningJob[];
}
