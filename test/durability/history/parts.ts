import type { Clock } from "serverless-compute-api/clock";
import { createJobCounters, type JobCounters } from "../../../service/jobs/counters";
import { createDeadlines } from "../../../service/jobs/deadlines";
import { createJobEvents, type JobEvents } from "../../../service/jobs/events";
import { createJobs, type Jobs } from "../../../service/jobs/jobs";
import { createLiveJobs, type LiveJobs } from "../../../service/jobs/live-jobs";
import { createJobRecords, type JobRecords } from "../../../service/jobs/records";
import { createJobStore, type JobStore } from "../../../service/jobs/store";
import { createSupervisor, type Supervisor } from "../../../service/jobs/supervisor";
import { defaultTimings } from "../../../service/jobs/timings";
import { createWebhookStore, type WebhookStore } from "../../../service/jobs/webhook-store";
import { redoFile } from "../../../service/store/data-folder";
import type { Database } from "../../../service/store/database";
import { createGroupCommit } from "../../../service/store/group-commit";
import { redo } from "../../../service/store/redo-log";
import { endpointLimits, outlives } from "./model";

/** One life of the job path over a store that outlives it. */
export interface Life {
  jobs: Jobs;
  records: JobRecords;
  events: JobEvents;
  live: LiveJobs;
  supervisor: Supervisor;
  store: JobStore;
  counters: JobCounters;
  webhooks: WebhookStore;
  /** Ends with the life. */
  signal: AbortSignal;
  /** Errors that the supervisor met. */
  faults: unknown[];
  /** The process is gone: what is not durable now never is. */
  die(): Promise<void>;
}

/** Starts the job path as the service does: first what ran waits again, then the queues are read. */
export function startLife(folder: string, database: Database, clock: Clock, punctual: boolean): Life {
  redo(redoFile(folder), database);
  const dead = new AbortController();
  const faults: unknown[] = [];
  const mortal: Database = {
    ...database,
    transaction: (work) => {
      dead.signal.throwIfAborted();
      return database.transaction(work);
    },
  };
  const deadlines = createDeadlines((endpointId) => endpointLimits[endpointId], defaultTimings);
  const beforeCommit = (): void => store.commit();
  // Both ways: works are held until the end of their turn, or only until those that came with them are there.
  const aloneAfter = punctual ? 0 : Number.POSITIVE_INFINITY;
  const groupCommit = createGroupCommit(mortal, { beforeCommit, window: () => 0, aloneAfter });
  const counters = createJobCounters(mortal, groupCommit.onRollback);
  const live = createLiveJobs(groupCommit.onRollback);
  const store = createJobStore(mortal, {
    groupCommit,
    counters,
    deferred: () => undefined,
    logIsFull: () => undefined,
  });
  const webhooks = createWebhookStore(mortal);
  const events = createJobEvents();
  const exists = (endpointId: string): boolean => endpointId in endpointLimits;
  const records = createJobRecords({ live, store, clock, deadlines });
  const parts = { live, store, records, counters, webhooks, groupCommit, events, clock, deadlines };
  const jobs = createJobs({ ...parts, exists });
  const log = { error: (fault: unknown) => dead.signal.aborted || faults.push(fault) };
  const supervisor = createSupervisor({ jobs, live, store, events, clock, log, deadlines, sweep: 1 });
  mortal.transaction(() => jobs.recover(outlives));
  supervisor.watch(live.all());
  if (punctual) supervisor.start();
  return {
    ...{ jobs, records, events, live, supervisor, store, counters, webhooks, faults },
    signal: dead.signal,
    async die() {
      dead.abort(new Error("the service was killed"));
      events.removeAllListeners();
      await supervisor.stop();
    },
  };
}
