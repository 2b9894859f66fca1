import type { Clock } from "serverless-compute-api/clock";
import { createJobQueue, type JobQueue } from "../../../service/queue";
import { steadyClock } from "../../../service/steady-clock";
import type { Database } from "../../../service/store/database";
import { defaultTimings } from "../../../service/timings";
import { endpointLimits, outlives } from "./model";

/** A run of the job path over a store that survives it. */
export type Life = JobQueue & {
  /** Aborted at the end of the run. */
  signal: AbortSignal;
  /** Errors of the expiry. */
  faults: unknown[];
  /** Kills the process: pending changes are lost. */
  die(): Promise<void>;
};

/** Starts the job path as the service does: requeues running jobs, then reads the queues. */
export function startLife(database: Database, clock: Clock, punctual: boolean): Life {
  const dead = new AbortController();
  const faults: unknown[] = [];
  const mortal: Database = {
    ...database,
    transaction: (work) => {
      dead.signal.throwIfAborted();
      return database.transaction(work);
    },
  };
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (fault: unknown) => void (dead.signal.aborted || faults.push(fault)),
  };
  const endpoint = (id: string) => (id in endpointLimits ? { executionTimeoutMs: endpointLimits[id] } : undefined);
  const queue = createJobQueue(mortal, {
    clock: steadyClock(clock),
    timings: { ...defaultTimings, sweep: 1 },
    log,
    endpoint,
  });
  queue.recover(outlives);
  if (punctual) queue.expiry.start();
  return {
    ...queue,
    faults,
    signal: dead.signal,
    async die() {
      dead.abort(new Error("the service was killed"));
      queue.events.removeAllListeners();
      await queue.expiry.stop();
    },
  };
}
