import type { Clock } from "serverless-compute-api/clock";
import { createCommitter } from "../../../service/jobs/commit";
import { createDeadlines } from "../../../service/jobs/due";
import { createJobEvents, type JobEvents } from "../../../service/jobs/events";
import type { Ledger } from "../../../service/jobs/ledger";
import { createJobQueues, type JobQueues } from "../../../service/jobs/queues";
import { createLedger } from "../../../service/jobs/stored-ledger";
import { createSupervisor, type Supervisor } from "../../../service/jobs/supervisor";
import { defaultTimings } from "../../../service/jobs/timings";
import type { Database } from "../../../service/store/database";
import { createJobChunkStore } from "../../../service/store/job-chunks";
import { createJobCounterStore, type JobCounterStore } from "../../../service/store/job-counters";
import { createJobStore, type JobStore } from "../../../service/store/jobs";
import { createWebhookStore, type WebhookStore } from "../../../service/store/webhooks";
import { endpointLimits, outlives } from "./model";

/** One life of the job path over a store that outlives it. */
export interface Life {
  ledger: Ledger;
  events: JobEvents;
  queues: JobQueues;
  supervisor: Supervisor;
  jobs: JobStore;
  counters: JobCounterStore;
  webhooks: WebhookStore;
  /** Ends with the life. */
  signal: AbortSignal;
  /** Errors that the supervisor met. */
  faults: unknown[];
  /** The process is gone: what is not durable now never is. */
  die(): Promise<void>;
}

/** Starts the job path as the service does: first what ran waits again, then the queues are read. */
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
  const deadlines = createDeadlines((endpointId) => endpointLimits[endpointId], defaultTimings);
  const jobs = createJobStore(mortal);
  const counters = createJobCounterStore(mortal);
  const webhooks = createWebhookStore(mortal);
  const events = createJobEvents();
  const stores = { jobs, chunks: createJobChunkStore(mortal), counters, webhooks };
  const exists = (endpointId: string): boolean => endpointId in endpointLimits;
  const queues = createJobQueues(jobs, events);
  const committer = createCommitter(mortal);
  const ledger = createLedger({ ...stores, committer, events, clock, exists, deadlines });
  const log = { error: (fault: unknown) => dead.signal.aborted || faults.push(fault) };
  const supervisor = createSupervisor({ ledger, events, clock, log, deadlines });
  queues.rebuild(mortal.transaction(() => ledger.recover(outlives)));
  if (punctual) supervisor.start();
  return {
    ...{ ledger, events, queues, supervisor, jobs, counters, webhooks, faults },
    signal: dead.signal,
    async die() {
      dead.abort(new Error("the service was killed"));
      events.removeAllListeners();
      await supervisor.stop();
    },
  };
}
