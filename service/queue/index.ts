import type { Logger } from "pino";
import type { SteadyClock } from "../steady-clock";
import type { Database } from "../store/database";
import { createGroupCommit } from "../store/group-commit";
import type { ServiceTimings } from "../timings";
import { createJobCounters } from "./counters";
import { createJobEvents } from "./events";
import { createDeadlines, createExpiry } from "./expiry";
import { createJobList } from "./list";
import { createActiveJobs } from "./memory";
import { createPendingRequests } from "./pending-requests";
import { createJobs } from "./queue";
import { createJobStore } from "./store";
import { createJobStream } from "./stream";
import { createWebhookDelivery, createWebhooks } from "./webhooks";

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
    clock: SteadyClock;
    timings: ServiceTimings;
    log: Pick<Logger, "info" | "warn" | "error">;
    /** Returns the endpoint, with its execution timeout in ms; undefined if it does not exist. */
    endpoint(id: string): { executionTimeoutMs?: number | undefined } | undefined;
  },
) {
  const events = createJobEvents();
  const pendingRequests = createPendingRequests(events, clock);
  const groupCommit = createGroupCommit(database, clock);
  const store = createJobStore(database, clock);
  const counters = createJobCounters(database, groupCommit);
  const webhooks = createWebhooks(database, clock);
  const active = createActiveJobs(groupCommit.onRollback, clock);
  const deadlines = createDeadlines((id) => endpoint(id)?.executionTimeoutMs, timings, clock);
  const list = createJobList(database, active, store, deadlines.isExpired, clock);
  const parts = { active, store, list, database, groupCommit, events, clock };
  const exists = (id: string): boolean => endpoint(id) !== undefined;
  const jobs = createJobs({ ...parts, counters, webhooks, exists, dueAt: deadlines.dueAt });
  const stream = createJobStream({ ...parts, pendingRequests, maxWait: timings.streamHold });
  const expiry = createExpiry({ ...parts, jobs, log, deadlines, sweep: timings.sweep });
  const webhookDelivery = createWebhookDelivery({ webhooks, groupCommit, events, clock, timings, log });
  return {
    ...parts,
    jobs,
    counters,
    webhooks,
    deadlines,
    pendingRequests,
    stream,
    expiry,

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
      expiry.start();
      webhookDelivery.start();
    },
    /** Stops all background work and commits pending changes. All workers must have ended. */
    async stop(): Promise<void> {
      await expiry.stop();
      await webhookDelivery.stop();
      groupCommit.close();
    },
  };
}
