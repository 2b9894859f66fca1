import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { type Faults, noRequestFaults } from "../faults/faults";
import type { JobQueue } from "../queue";
import type { EndpointLookup } from "../resources/endpoint-lookup";
import type { EndpointEvents } from "../resources/endpoint-table";
import type { SteadyClock } from "../steady-clock";
import type { ServiceTimings } from "../timings";
import type { Workers } from "../workers";
import { type Admission, createAdmission, createRateLimits, noRateLimits } from "./admission";
import type { Auth } from "./auth";
import type { OpenResponses } from "./connections";
import { registerJobRoutes } from "./jobs";
import { registerLoadBalancerRoutes } from "./load-balancers";
import { registerOpenaiRoute } from "./openai";
import { registerChannelRoutes } from "./worker-channel";

/** Settings of the job API. */
interface JobRouteSettings {
  /** Form of streams; `auto` depends on the client. */
  stream: "auto" | "array" | "envelope";
  /** Time after its submission for which calls do not find a job, ms. */
  jobVisibilityDelay: number;
}

/** The routes of endpoints, by caller. */
export type EndpointRoutes = ReturnType<typeof createEndpointRoutes>;

/** The routes of endpoints: jobs and load balancers for users, jobs for the console, and the channel for workers. */
export function createEndpointRoutes({
  auth,
  endpoints,
  events,
  queue,
  workers,
  faults,
  clock,
  settings,
  log,
}: {
  auth: Pick<Auth, "checkJobs">;
  endpoints: Pick<EndpointLookup, "get">;
  events: EndpointEvents;
  queue: JobQueue;
  workers: Workers;
  faults: Faults;
  clock: SteadyClock;
  log: Pick<Logger, "error">;
  settings: JobRouteSettings & { rateLimits: "on" | "off"; timings: ServiceTimings };
}) {
  const { balancer, dispatcher, tokens, health } = workers;
  const typeOf = (endpointId: string) => endpoints.get(endpointId)?.type;
  const rateLimits = settings.rateLimits === "off" ? noRateLimits : createRateLimits(clock, workers.countRunning);
  events.on("endpointDeleted", rateLimits.removeEndpoint);

  function registerJobs(
    app: FastifyInstance,
    admit: Admission,
    { stream: streamForm, jobVisibilityDelay: visibilityDelay }: JobRouteSettings,
  ): void {
    registerJobRoutes(app, { queue, health, clock, admit, streamForm, visibilityDelay });
    registerOpenaiRoute(app, { queue, clock, admit });
  }

  return {
    jobs: (app: FastifyInstance): void =>
      registerJobs(app, createAdmission(auth, typeOf, rateLimits, faults), settings),

    /** Registers the job API without keys and rate limits, for requests that are already authenticated. */
    consoleJobs: (app: FastifyInstance): void =>
      registerJobs(app, createAdmission({ checkJobs: () => undefined }, typeOf, noRateLimits, noRequestFaults), {
        stream: "envelope",
        jobVisibilityDelay: 0,
      }),

    workerChannel: (app: FastifyInstance): void =>
      registerChannelRoutes(app, {
        dispatcher,
        identify: workers.identify,
        jobs: queue.jobs,
        stream: queue.stream,
        token: (endpointId) => (typeOf(endpointId) === "QB" ? tokens.tokenOf(endpointId) : undefined),
        operationOf: (worker, jobId) => queue.active.runningAt(jobId, worker)?.operation,
      }),

    loadBalancers: (app: FastifyInstance, openResponses: OpenResponses): void =>
      registerLoadBalancerRoutes(app, {
        auth,
        typeOf,
        balancer,
        faults,
        clock,
        timings: settings.timings,
        openResponses,
        log,
      }),
  };
}
