import type { Logger } from "pino";
import { type Clock, steadyClock } from "serverless-compute-api/clock";
import type { Database } from "../store/database";
import { createGroupCommit } from "../store/group-commit";
import { createAssignment } from "./assignment";
import { createJobCounters } from "./counters";
import { createDeadlines } from "./deadlines";
import { createJobEvents } from "./events";
import { createJobView } from "./job-view";
import { createJobs } from "./jobs";
import { createLiveJobs } from "./live-jobs";
import { createJobRecords } from "./records";
import { createJobStore } from "./store";
import { createJobStream } from "./stream";
import { createSupervisor } from "./supervisor";
import type { JobTimings } from "./timings";
import { createTransitions } from "./transitions";
import { createJobWaits } from "./waits";
import { createWebhookDelivery } from "./webhook-delivery";
import { createWebhookStore } from "./webhook-store";

export type JobQueue = ReturnType<typeof createJobQueue>;

/** The durable queue: jobs in memory and in the store, their deadlines, streams and webhooks. Independent of workers and HTTP. */
export function createJobQueue(
  database: Database,
  {
    clock,
    timings,
    log,
    endpoint,
  }: {
    clock: Clock;
    timings: JobTimings;
    log: Pick<Logger, "info" | "warn" | "error">;
    /** Returns the endpoint, with its execution timeout in ms; undefined if it does not exist. */
    endpoint(id: string): { executionTimeoutMs?: number | undefined } | undefined;
  },
) {
  // Waits within this process must not depend on changes of the system time. Times in the store outlive the process, so they are wall-clock
  // times; its only waits, those of webhooks, start again with the process.
  const monotonicClock = steadyClock(clock);
  const events = createJobEvents();
  const waits = createJobWaits(events, monotonicClock);
  const groupCommit = createGroupCommit(database, () => monotonicClock.now());
  const { onRollback } = groupCommit;
  const store = createJobStore(database);
  const counters = createJobCounters(database, groupCommit);
  const webhooks = createWebhookStore(database, monotonicClock);
  const live = createLiveJobs(onRollback);
  const deadlines = createDeadlines((id) => endpoint(id)?.executionTimeoutMs, timings, clock);
  const { dueAt } = deadlines;
  const records = createJobRecords(live, store, clock, deadlines);
  const transitions = createTransitions({ live, store, counters, webhooks, events, clock, dueAt });
  const parts = { live, store, records, groupCommit, transitions, events, clock };
  const assignment = createAssignment(parts);
  const exists = (id: string): boolean => endpoint(id) !== undefined;
  const jobs = createJobs({ ...parts, assignment, counters, webhooks, exists, dueAt });
  const stream = createJobStream({ ...parts, clock: monotonicClock, waits, maxWait: timings.streamHold });
  const supervisor = createSupervisor({ ...parts, log, deadlines, sweep: timings.sweep });
  const webhookDelivery = createWebhookDelivery({ webhooks, groupCommit, events, clock: monotonicClock, timings, log });
  return {
    jobs,
    records,
    live,
    store,
    counters,
    webhooks,
    groupCommit,
    transitions,
    deadlines,
    events,
    waits,
    stream,
    supervisor,
    view: createJobView(database, records, store),

    /**
     * Loads the stored jobs and requeues interrupted ones. Returns the running jobs whose workers outlive the service, and the ids of
     * all endpoints that have jobs.
     */
    recover(outlives: (workerId: string) => boolean) {
      const runningJobs = database.transaction(() => {
        webhooks.makeDue();
        return jobs.recover(outlives);
      });
      return { runningJobs, endpointIds: store.endpoints() };
    },
    start(): void {
      supervisor.start();
      webhookDelivery.start();
    },
    /** Stops all background work and commits pending changes. All workers must have ended. */
    async stop(): Promise<void> {
      await supervisor.stop();
      await webhookDelivery.stop();
      groupCommit.close();
    },
  };
}
