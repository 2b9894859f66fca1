import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { Auth } from "../http/auth";
import { createRateLimits, noRateLimits } from "../http/rate-limits";
import type { EndpointLookup } from "../resources/endpoint-lookup";
import type { EndpointEvents } from "../resources/endpoints";
import type { ServiceSettings } from "../settings";
import type { Database } from "../store/database";
import { createJobChunkStore } from "../store/job-chunks";
import { createJobCounterStore } from "../store/job-counters";
import { createJobStore } from "../store/jobs";
import { createWebhookStore } from "../store/webhooks";
import { registerChannelRoutes } from "../workers/channel";
import { createWorkerDesk } from "../workers/desk";
import { createWorkerStarter } from "../workers/launch";
import { createWorkerLogs, namesIn, workerLogFolder } from "../workers/logs";
import { createWorkerPool } from "../workers/pool";
import { createReaper } from "../workers/reaper";
import { createRoster, isLocalId, phaseOf, type WorkerPhase } from "../workers/roster";
import { createWorkerTokens } from "../workers/tokens";
import { createCommitter } from "./commit";
import { createDeadlines } from "./due";
import { createJobEvents } from "./events";
import { readHealth } from "./health";
import { createJobQueues } from "./queues";
import { registerJobRoutes } from "./routes";
import { createLedger } from "./stored-ledger";
import { createJobStream } from "./stream";
import { createSupervisor } from "./supervisor";
import { createJobWaiters } from "./waiters";
import { createWebhookDelivery } from "./webhooks";

/** What the job path is built on. */
export interface JobEngineDeps {
  database: Database;
  clock: Clock;
  settings: Pick<ServiceSettings, "dataFolder" | "images" | "rateLimits" | "stream" | "timings">;
  endpoints: EndpointLookup;
  events: EndpointEvents;
  auth: Pick<Auth, "checkJobs">;
  log: Pick<Logger, "debug" | "info" | "warn" | "error">;
  /** Root of the job API without a slash at its end; asked once the server listens. */
  serverlessUrl(): string;
}

/** The job path: queues, workers, and the routes under /v2. */
export interface JobEngine {
  /** Registers the user's and the workers' routes; those of workers have `config.audience` "worker". */
  routes(app: FastifyInstance): void;
  /** Queues again what ran when the service ended, and starts workers. The server listens already. */
  start(): Promise<void>;
  /** The endpoint's workers and what they do. */
  workers(endpointId: string): { id: string; status: WorkerPhase; startedAt: number }[];
  /** Gives running jobs `deadline` ms to finish, then ends all workers. The server must still listen; the store is closed after it. */
  stop(deadline: number): Promise<void>;
}

export function createJobEngine({
  database,
  clock,
  settings,
  endpoints,
  log,
  serverlessUrl,
  ...deps
}: JobEngineDeps): JobEngine {
  const { timings } = settings;
  const jobs = createJobStore(database);
  const chunks = createJobChunkStore(database);
  const counters = createJobCounterStore(database);
  const webhooks = createWebhookStore(database);
  const tokens = createWorkerTokens(database);
  const committer = createCommitter(database);
  const events = createJobEvents();
  const exists = (endpointId: string): boolean => endpoints.get(endpointId) !== undefined;
  const deadlines = createDeadlines((endpointId) => endpoints.get(endpointId)?.executionTimeoutMs, timings);

  // Queues hear of a change before those who act on it.
  const queues = createJobQueues(jobs, events);
  const ledger = createLedger({ jobs, chunks, counters, webhooks, committer, events, clock, exists, deadlines });
  const waiters = createJobWaiters(events, clock);
  const stream = createJobStream({ jobs, chunks, committer, events, waiters, clock, timings });
  const supervisor = createSupervisor({ ledger, events, clock, log, deadlines });
  const webhookDelivery = createWebhookDelivery({ webhooks, committer, events, clock, timings, log });

  const homes = join(settings.dataFolder, "workers");
  const logs = createWorkerLogs(workerLogFolder(settings.dataFolder));
  const reaper = createReaper(settings.dataFolder);
  const roster = createRoster();
  const queue = queues.of;
  const desk = createWorkerDesk({
    ...{ ledger, events, roster, queue, clock, timings, log },
    joined: tokens.joinedElsewhere,
    changed: (endpointId) => pool.review(endpointId),
  });
  const starter = createWorkerStarter({
    ...{ endpoints, homes, serverlessUrl, reaper, clock, timings },
    images: settings.images,
    token: tokens.of,
    log: logs.of,
  });
  const pool = createWorkerPool({
    ...{ roster, desk, ledger, events, queue, endpoints, starter, clock, timings, log },
    joinedElsewhere: tokens.hasJoinedElsewhere,
  });
  events.on("queued", ({ endpointId }) => pool.review(endpointId));

  /** Workers that are up, whether they have a job or wait for one; those that start or are unhealthy are not. */
  const runningWorkers = (endpointId: string): number =>
    roster.of(endpointId).filter((worker) => ["idle", "running"].includes(phaseOf(worker, clock.now(), timings)))
      .length;
  const rateLimits = settings.rateLimits === "off" ? noRateLimits : createRateLimits(clock, runningWorkers);
  const health = (endpointId: string) =>
    readHealth(endpointId, {
      counters,
      queue,
      running: queues.running,
      roster,
      throttled: pool.throttled,
      problem: pool.problem,
      clock,
      timings,
    });

  /** Takes away everything that an endpoint left here. */
  async function forget(endpointId: string): Promise<void> {
    await committer.commit(
      () => {
        counters.removeEndpoint(endpointId);
        webhooks.removeEndpoint(endpointId);
        tokens.forget(endpointId);
        return jobs.removeEndpoint(endpointId);
      },
      (left) => {
        for (const job of left) events.emit("removed", job);
      },
    );
    rateLimits.forget(endpointId);
    queues.forget(endpointId);
    await pool.drop(endpointId);
    await logs.remove(endpointId);
    await rm(join(homes, endpointId), { recursive: true, force: true });
  }
  const forgetting = new Set<Promise<void>>();
  const forgetSoon = (endpointId: string): void => {
    const done: Promise<void> = forget(endpointId)
      .catch((error: unknown) => log.error({ err: error, endpoint: endpointId }, "an endpoint left something behind"))
      .finally(() => forgetting.delete(done));
    forgetting.add(done);
  };
  deps.events.on("endpointCreated", (endpointId) => {
    // Made early, so that workers elsewhere can be given it before any worker runs here.
    tokens.of(endpointId);
    pool.review(endpointId);
  });
  deps.events.on("endpointDeleted", forgetSoon);
  deps.events.on("endpointChanged", (endpointId, { workersRestart }) => {
    if (workersRestart) pool.restart(endpointId);
    else pool.review(endpointId);
  });

  return {
    routes(app) {
      app.register(async (scope) => {
        const form = settings.stream;
        registerJobRoutes(scope, {
          auth: deps.auth,
          exists,
          rateLimits,
          ledger,
          jobs,
          waiters,
          stream,
          streamForm: form,
          health,
          clock,
        });
      });
      app.register(async (scope) => {
        const token = (endpointId: string) => (exists(endpointId) ? tokens.of(endpointId) : undefined);
        registerChannelRoutes(scope, { desk, ledger, stream, token });
      });
    },

    async start() {
      // Workers that a service starts end with it; those elsewhere may still be at their jobs.
      const kept = database.transaction(() => ledger.recover((workerId) => !isLocalId(workerId)));
      queues.rebuild(kept);
      for (const job of kept) desk.awaitReturn(job);
      // A service that was killed while it forgot an endpoint may have come to any point.
      const files = [...(await logs.endpoints()), ...(await namesIn(homes))];
      const left = new Set([...jobs.endpoints(), ...tokens.endpoints(), ...files]);
      for (const endpointId of left) if (!exists(endpointId)) await forget(endpointId);
      for (const { id } of endpoints.all()) tokens.of(id);
      supervisor.start();
      webhookDelivery.start();
      // Nothing else waits for them: the service answers meanwhile.
      void reaper
        .predecessorsGone()
        .catch((error: unknown) => log.error({ err: error }, "it cannot be told whether earlier workers are gone"))
        .then(() => pool.start());
    },

    workers: (endpointId) =>
      roster.of(endpointId).map((worker) => {
        const { id, startedAt } = worker;
        return { id, status: phaseOf(worker, clock.now(), timings), startedAt };
      }),

    async stop(deadline) {
      desk.close();
      await finished(deadline);
      waiters.close();
      await pool.stop();
      await Promise.all(forgetting);
      await supervisor.stop();
      await webhookDelivery.stop();
      committer.close();
      await logs.flush();
      await reaper.close();
    },
  };

  /** Waits until no job runs, at most `deadline` ms. */
  async function finished(deadline: number): Promise<void> {
    const busy = (): boolean =>
      roster.all().some(({ awaitedUntil, jobs }) => awaitedUntil === undefined && jobs.size > 0);
    const done = new AbortController();
    const look = (): void => {
      if (!busy()) done.abort();
    };
    events.on("ended", () => setImmediate(look));
    events.on("queued", () => setImmediate(look));
    if (busy()) await clock.sleep(deadline, done.signal).catch(() => undefined);
  }
}
