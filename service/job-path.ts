import type { FastifyInstance } from "fastify";
import { steadyClock } from "serverless-compute-api/clock";
import { createAdmission, createRateLimits, noRateLimits } from "./api/admission";
import type { Auth } from "./api/auth";
import { registerJobRoutes } from "./api/jobs";
import { registerLoadBalancerRoutes } from "./api/load-balancers";
import { registerOpenaiRoute } from "./api/openai";
import { registerChannelRoutes } from "./api/worker-channel";
import { createEndpointRemoval } from "./endpoint-removal";
import { createFaults, noRequestFaults } from "./faults/faults";
import { createJobQueue } from "./jobs";
import type { EndpointEvents } from "./resources/endpoint-table";
import type { ServiceSettings } from "./settings";
import { moveOrphans } from "./store/orphans";
import { createWorkers } from "./workers";
import { createWorkerLogs, workerLogFolder } from "./workers/logs";
import { isLocalId } from "./workers/registry";

/** The job path: queue, workers, and the routes under /v2. */
export function createJobPath(
  deps: Omit<Parameters<typeof createWorkers>[0], "queue" | "faults" | "logs"> & {
    settings: Pick<ServiceSettings, "onNotice" | "rateLimits" | "stream">;
    events: EndpointEvents;
    auth: Pick<Auth, "checkJobs">;
  },
) {
  const { database, clock, settings, endpoints, events, auth, log } = deps;
  const { dataFolder, timings } = settings;
  const exists = (endpointId: string): boolean => endpoints.get(endpointId) !== undefined;
  const typeOf = (endpointId: string) => endpoints.get(endpointId)?.type;
  // Waits of this process must not depend on changes of the system time.
  const monotonicClock = steadyClock(clock);

  const queue = createJobQueue(database, { clock, timings, log, endpoint: endpoints.get });
  const { jobs, records, live } = queue;
  const logs = createWorkerLogs(workerLogFolder(dataFolder), clock);
  // A worker that lacked stock may start.
  const faults = createFaults({ clock, exists, logNotice, onReplace: (endpointId) => pool.review(endpointId) });
  const workers = createWorkers({ ...deps, queue, faults, logs });
  const { balancer, dispatcher, pool, presence, tokens, health } = workers;
  const rateLimits =
    settings.rateLimits === "off" ? noRateLimits : createRateLimits(monotonicClock, workers.countRunning);
  const removal = createEndpointRemoval({
    jobs,
    workers,
    removeFromMemory(endpointId) {
      workers.disconnectEndpoint(endpointId);
      rateLimits.removeEndpoint(endpointId);
      faults.removeEndpoint(endpointId);
    },
    clock,
    log,
  });

  events.on("endpointCreated", (endpointId) => {
    // Created early, so that external workers can use it before a local worker has started.
    tokens.tokenOf(endpointId);
    pool.review(endpointId);
  });
  events.on("endpointDeleted", removal.removeSoon);
  events.on("volumeDeleted", removal.removeVolumeSoon);
  events.on("endpointChanged", (endpointId, { workersRestart }) => {
    queue.supervisor.applyTimeoutChange();
    if (workersRestart) pool.replaceAll(endpointId);
    else pool.review(endpointId);
  });

  /** Registers only the workers' routes. */
  function workerRoutes(app: FastifyInstance): void {
    const token = (endpointId: string) => (typeOf(endpointId) === "QB" ? tokens.tokenOf(endpointId) : undefined);
    const operationOf = (endpointId: string, jobId: string) => records.find(endpointId, jobId)?.job.operation;
    registerChannelRoutes(app, { dispatcher, presence, jobs, stream: queue.stream, token, operationOf });
  }

  /** Writes a line into the logs of the service and of an endpoint's workers. */
  function logNotice(endpointId: string, text: string): void {
    log.info({ endpoint: endpointId }, text);
    logs.write(endpointId, text);
  }

  const jobRouteOptions = { queue, health, clock };
  return {
    /** Registers the routes for users and workers; `registerUserHooks` is applied to the routes for users. */
    routes(app: FastifyInstance, registerUserHooks: (scope: FastifyInstance) => void): void {
      const admit = createAdmission(auth, typeOf, rateLimits, faults);
      app.register(async (scope) => {
        registerUserHooks(scope);
        registerJobRoutes(scope, { ...jobRouteOptions, admit, streamForm: settings.stream });
        registerOpenaiRoute(scope, { ...jobRouteOptions, admit });
      });
      app.register(async (scope) => workerRoutes(scope));
    },
    /** Registers the users' routes without keys and rate limits, for requests that are already authenticated. */
    consoleRoutes(app: FastifyInstance): void {
      const admit = createAdmission({ checkJobs: () => undefined }, typeOf, noRateLimits, noRequestFaults);
      registerJobRoutes(app, { ...jobRouteOptions, admit, streamForm: "envelope" });
      registerOpenaiRoute(app, { ...jobRouteOptions, admit });
    },
    workerRoutes,
    /** Registers the routes of load balancing endpoints. */
    loadBalancerRoutes: (app: FastifyInstance): void =>
      registerLoadBalancerRoutes(app, { auth, typeOf, balancer, faults, clock: monotonicClock, timings }),

    /** Requeues jobs that were running when the service ended, and starts workers. The server must already listen. */
    async start(): Promise<void> {
      // Local workers end with their service; external workers may still run their jobs.
      const { runningJobs, endpointIds } = queue.recover((workerId) => !isLocalId(workerId));
      for (const job of runningJobs) presence.awaitReturn(job);
      const volumeIds = endpoints.volumeIds();
      moveOrphans(
        dataFolder,
        (id) => volumeIds.has(id),
        exists,
        (text) => {
          log.warn(text);
          settings.onNotice(text);
        },
      );
      // A kill may have interrupted the removal of an endpoint.
      const endpointIdsWithData = new Set([...endpointIds, ...tokens.endpoints()]);
      for (const endpointId of endpointIdsWithData) if (!exists(endpointId)) await removal.remove(endpointId);
      for (const { id } of endpoints.all()) tokens.tokenOf(id);
      queue.start();
      await workers.start();
    },

    /** The endpoint's workers and their states. */
    workers: workers.list,

    /** Replaces the endpoint's workers after their jobs; `reason` is written to the logs of the service and the workers. */
    restartWorkers(endpointId: string, reason: string): void {
      logNotice(endpointId, reason);
      pool.replaceAll(endpointId, true);
    },
    faults,
    /** The data of the console. */
    view: { ...queue.view, retry: queue.jobs.retry, health, waiting: live.waiting, events: queue.events },

    /** Waits up to `deadline` ms for running jobs, then ends all workers. The server must still listen, and the store must be open. */
    async stop(deadline: number): Promise<void> {
      await workers.drain(deadline);
      queue.waits.close();
      await pool.stop();
      await removal.settled();
      await queue.stop();
      await workers.close();
    },
  };
}
