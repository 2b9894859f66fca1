import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { type Clock, steadyClock } from "serverless-compute-api/clock";
import { createAdmission, createRateLimits, noRateLimits } from "./api/admission";
import type { Auth } from "./api/auth";
import { createFaultControl } from "./api/faults";
import { registerJobRoutes } from "./api/jobs";
import { registerLoadBalancerRoutes } from "./api/load-balancers";
import { registerOpenaiRoute } from "./api/openai";
import type { WorkerState } from "./api/rest-v2-workers";
import { registerChannelRoutes } from "./api/worker-channel";
import { createEndpointRemoval } from "./endpoint-removal";
import { StartError } from "./errors";
import { createFaults, noRequestFaults } from "./faults/faults";
import { createJobQueue } from "./jobs";
import { setAsideOrphans } from "./orphans";
import type { EndpointLookup } from "./resources/endpoint-lookup";
import type { EndpointEvents } from "./resources/endpoint-table";
import type { ServiceSettings } from "./settings";
import type { Database } from "./store/database";
import { createBalancer } from "./workers/balancer";
import { createContainers } from "./workers/containers/containers";
import { createDispatcher } from "./workers/dispatcher";
import { readHealth } from "./workers/health";
import { createWorkerStarter } from "./workers/launch";
import { kill, type LocalWorker } from "./workers/local-worker";
import { createWorkerLogs, workerLogFolder } from "./workers/logs";
import { servePipe } from "./workers/pipe";
import { createWorkerPool } from "./workers/pool";
import { createWorkerPresence } from "./workers/presence";
import { createReaper } from "./workers/reaper";
import { countRunning, createWorkerRegistry, isLocalId, phaseOf, waitForRunningJobs } from "./workers/registry";
import { createWorkerTokens } from "./workers/tokens";

/** The job path: queues, workers, and the routes under /v2. */
export function createJobEngine({
  database,
  clock,
  settings,
  endpoints,
  log,
  serverlessUrl,
  ...deps
}: {
  database: Database;
  clock: Clock;
  settings: Pick<
    ServiceSettings,
    "dataFolder" | "engine" | "gpus" | "images" | "onNotice" | "rateLimits" | "runtime" | "stream" | "timings"
  >;
  endpoints: EndpointLookup;
  events: EndpointEvents;
  auth: Pick<Auth, "checkJobs">;
  log: Pick<Logger, "debug" | "info" | "warn" | "error">;
  /** Root of the job API without a slash at its end; asked once the server listens. */
  serverlessUrl(): string;
  /** Has the server listen on another address of this machine, for workers' calls only; resolves with the port. */
  listenForWorkers(address: string): Promise<number>;
}) {
  const { timings } = settings;
  const exists = (endpointId: string): boolean => endpoints.get(endpointId) !== undefined;
  const queue = createJobQueue(database, { clock, timings, log, endpoint: endpoints.get });
  const { jobs, records, live, events } = queue;
  const tokens = createWorkerTokens(database);
  // Waits of this process must not change with the machine's time.
  const steady = steadyClock(clock);

  const homes = join(settings.dataFolder, "workers");
  const logs = createWorkerLogs(workerLogFolder(settings.dataFolder));
  const faults = createFaults(clock, note);
  const reaper = createReaper(settings.dataFolder);
  const registry = createWorkerRegistry();
  const operationOf = (endpointId: string, jobId: string) => records.find(endpointId, jobId)?.job.operation;
  const changed = (endpointId: string): void => pool.review(endpointId);
  const presence = createWorkerPresence({
    ...{ registry, clock: steady, timings, log, joined: tokens.joinedElsewhere, changed },
  });
  const dispatcher = createDispatcher({
    ...{ queue: live.queue, events, registry, presence, clock: steady, timings, log, changed },
    jobs: faults.failing(jobs, live.get),
  });
  const containers = createContainers({
    ...{ dataFolder: settings.dataFolder, gpuMode: settings.gpus, clock, log },
    address: settings.engine,
    listen: deps.listenForWorkers,
  });
  const starter = createWorkerStarter({
    ...{ endpoints, containers, homes, serverlessUrl, reaper, faults, clock, timings },
    images: settings.images,
    runtime: settings.runtime,
    token: tokens.of,
    log: logs.of,
  });
  /** Waiting jobs with their times converted to the steady clock. */
  function* pressing(endpointId: string) {
    yield* balancer.waiting(endpointId);
    const ahead = clock.now() - steady.now();
    for (const { id, queuedAt } of live.queue(endpointId).pressing) yield { id, queuedAt: queuedAt - ahead };
  }
  const balancer = createBalancer({ registry, presence, clock: steady, timings, pool: () => pool });
  const pool = createWorkerPool({
    ...{ registry, dispatcher, events, endpoints, starter, clock: steady, timings, log },
    jobs: { ...jobs, refuse: async (id, error) => balancer.refuse(id, error) || jobs.refuse(id, error) },
    pressing,
    joinedElsewhere: tokens.hasJoinedElsewhere,
    serve,
  });
  events.on("queued", ({ endpointId }) => pool.review(endpointId));
  events.on("started", faults.jobStarted);

  function serve(local: LocalWorker): void {
    const { worker, process } = local;
    void balancer.watch(local);
    const fail = (error: unknown): void => {
      log.error({ err: error, worker: worker.id }, "worker: its result cannot be stored; the worker is stopped");
      kill(local, `could not return a result (${error instanceof Error ? error.message : String(error)})`, true);
    };
    faults.watch(worker.id, process);
    if (process.channel) servePipe(process.channel, worker, { dispatcher, stream: queue.stream, fail });
  }

  const runningWorkers = (endpointId: string) => countRunning(registry.of(endpointId), steady.now(), timings);
  const rateLimits = settings.rateLimits === "off" ? noRateLimits : createRateLimits(steady, runningWorkers);
  const typeOf = (endpointId: string) => endpoints.get(endpointId)?.type;
  const health = (endpointId: string) =>
    readHealth(endpointId, {
      ...{ counters: queue.counters, live, registry, clock: steady, timings },
      throttled: pool.throttled,
      problem: pool.problem,
    });

  const removal = createEndpointRemoval({
    ...{ tokens, jobs, rateLimits, faults, balancer, pool, logs, containers, endpoints, homes, clock, log },
  });
  deps.events.on("endpointCreated", (endpointId) => {
    // Created early, so that workers elsewhere can use it before any worker runs here.
    tokens.of(endpointId);
    pool.review(endpointId);
  });
  deps.events.on("endpointDeleted", removal.removeSoon);
  deps.events.on("volumeDeleted", removal.removeVolumeSoon);
  deps.events.on("endpointChanged", (endpointId, { workersRestart }) => {
    queue.supervisor.retime();
    if (workersRestart) pool.replaceAll(endpointId);
    else pool.review(endpointId);
  });

  /** Registers the workers' routes alone. */
  function workerRoutes(app: FastifyInstance): void {
    const token = (endpointId: string) => (typeOf(endpointId) === "QB" ? tokens.of(endpointId) : undefined);
    registerChannelRoutes(app, { dispatcher, presence, jobs, stream: queue.stream, token, operationOf });
  }

  /** Writes a line into the logs of the service and of an endpoint's workers. */
  function note(endpointId: string, text: string): void {
    log.info({ endpoint: endpointId }, text);
    logs.of(endpointId).write(`${new Date(clock.now()).toISOString()} ${text}`);
  }
  const ofJobs = { queue, health, clock };
  return {
    /** Registers the users' and the workers' routes; `ofUsers` is applied to those of users. */
    routes(app: FastifyInstance, ofUsers: (scope: FastifyInstance) => void): void {
      const admit = createAdmission(deps.auth, typeOf, rateLimits, faults);
      app.register(async (scope) => {
        ofUsers(scope);
        registerJobRoutes(scope, { ...ofJobs, admit, streamForm: settings.stream });
        registerOpenaiRoute(scope, { ...ofJobs, admit });
      });
      app.register(async (scope) => workerRoutes(scope));
    },
    /** Registers the users' routes without keys and rate limits, for callers that are checked already. */
    consoleRoutes(app: FastifyInstance): void {
      const admit = createAdmission({ checkJobs: () => undefined }, typeOf, noRateLimits, noRequestFaults);
      registerJobRoutes(app, { ...ofJobs, admit, streamForm: "envelope" });
      registerOpenaiRoute(app, { ...ofJobs, admit });
    },
    workerRoutes,
    /** Registers the addresses of load balancing endpoints. */
    loadBalancerRoutes: (app: FastifyInstance): void =>
      registerLoadBalancerRoutes(app, { auth: deps.auth, typeOf, balancer, faults, clock: steady, timings }),

    /** Requeues jobs that ran when the service ended, and starts workers. The server listens already. */
    async start(): Promise<void> {
      // Local workers end with their service; workers elsewhere may still run their jobs.
      const { kept, endpointIds } = queue.recover((workerId) => !isLocalId(workerId));
      for (const job of kept) presence.awaitReturn(job);
      // A kill may have interrupted the removal of an endpoint.
      const left = new Set([...endpointIds, ...tokens.endpoints()]);
      const volumeIds = endpoints.volumeIds();
      setAsideOrphans(
        settings.dataFolder,
        (id) => volumeIds.has(id),
        exists,
        (text) => {
          log.warn(text);
          settings.onNotice(text);
        },
      );
      for (const endpointId of left) if (!exists(endpointId)) await removal.remove(endpointId);
      for (const { id } of endpoints.all()) tokens.of(id);
      queue.start();
      // In the background: the service responds in the meantime.
      const looked = settings.runtime === "none" ? undefined : containers.open(settings.runtime === "docker");
      if (settings.runtime === "docker") {
        await looked;
        const problem = containers.problem();
        if (problem !== undefined)
          throw new StartError(
            `runtime "docker": ${problem}; start the engine, or start the service with another runtime`,
          );
      }
      void looked?.then(removal.tidy);
      void Promise.all([reaper.predecessorsGone(), looked])
        .catch((error: unknown) => log.error({ err: error }, "workers of an earlier service: cannot be checked"))
        .then(() => pool.start());
    },

    /** The endpoint's workers and their states. */
    workers: (endpointId: string): WorkerState[] =>
      registry.of(endpointId).map((worker) => {
        const { id, startedAt, stale: isStale, version = endpoints.get(endpointId)?.version ?? 0 } = worker;
        return { id, status: phaseOf(worker, steady.now(), timings), startedAt, version, isStale };
      }),

    /** Replaces the endpoint's workers after their jobs; `why` is logged by the service and by the workers. */
    restartWorkers(endpointId: string, why: string): void {
      note(endpointId, why);
      pool.replaceAll(endpointId, true);
      for (const worker of registry.of(endpointId)) if (worker.local) dispatcher.dismiss(worker);
    },
    faults: createFaultControl({ faults, exists, review: pool.review }),
    /** The data of the console. */
    view: { ...queue.view, health, waiting: live.waiting, events },

    /** Gives running jobs `deadline` ms to finish, then ends all workers. The server must still listen; the store is closed after it. */
    async stop(deadline: number): Promise<void> {
      dispatcher.close();
      await Promise.all([waitForRunningJobs({ registry, events, clock }, deadline), balancer.close(deadline)]);
      queue.waits.close();
      await pool.stop();
      await removal.settled();
      await queue.stop();
      await logs.flush();
      await reaper.close();
      await containers
        .close()
        .catch((error: unknown) => log.error({ err: error }, "containers: not all could be removed"));
    },
  };
}
