import type { Logger } from "pino";
import { messageOf, ServiceError } from "../errors";
import type { Faults } from "../faults/faults";
import type { JobQueue } from "../queue";
import type { RunningJob } from "../queue/job";
import type { EndpointLookup } from "../resources/endpoint-lookup";
import type { SteadyClock } from "../steady-clock";
import { isForbidden } from "../store/data-folder";
import type { Database } from "../store/database";
import type { ServiceTimings } from "../timings";
import { createBalancer } from "./balancer";
import { createDispatcher } from "./dispatcher";
import { readHealth } from "./health";
import { createWorkerStarter } from "./launch";
import type { WorkerLogs } from "./logs";
import { servePipe } from "./pipe";
import { createWorkerPool } from "./pool";
import { createRedaction, type Redact } from "./redaction";
import { createWorkerRegistry, isLocalId } from "./registry";
import { unencodableOutput } from "./results";
import { createRuntimes, type RuntimeSettings } from "./runtimes";
import type { Survivor } from "./runtimes/runtime";
import type { WaitingWork } from "./starts";
import { createWorkerTokens } from "./tokens";
import type { Worker } from "./worker";
import { countRunning, stateOf, type WorkerState } from "./worker-record";

interface WorkerSettings extends RuntimeSettings {
  timings: ServiceTimings;
}

export type Workers = ReturnType<typeof createWorkers>;

/** The workers of all endpoints: the pool, the dispatch of jobs, and the requests of load balancers. */
export function createWorkers({
  database,
  clock,
  settings,
  endpoints,
  queue,
  faults,
  logs,
  log,
  serverlessUrl,
  listenForWorkers,
}: {
  database: Database;
  clock: SteadyClock;
  settings: WorkerSettings;
  endpoints: EndpointLookup;
  queue: JobQueue;
  faults: Faults;
  logs: WorkerLogs;
  log: Pick<Logger, "debug" | "info" | "warn" | "error">;
  /** Root of the job API without a trailing slash; called once the server listens. */
  serverlessUrl(): string;
  /** Listens on another address of this machine for workers' calls only; resolves with the port. */
  listenForWorkers(address: string, port?: number): Promise<number>;
}) {
  const { timings } = settings;
  const { jobs, active, events, counters, stream } = queue;
  const tokens = createWorkerTokens(database);
  const registry = createWorkerRegistry(clock, (endpointId) => endpoints.get(endpointId) !== undefined);
  const dispatcher = createDispatcher({
    jobs,
    faults,
    events,
    registry,
    clock,
    timings,
    log,
  });
  const runtime = createRuntimes(settings, { clock, log, serverlessUrl, listenForWorkers });
  const starter = createWorkerStarter({
    endpoints,
    runtime,
    token: tokens.tokenOf,
    logs,
    log,
    faults,
    onUnsentResult: ({ endpointId, workerId, jobId }, reason) => {
      const worker = registry.find(endpointId, workerId);
      if (!worker) return;
      failJob(jobId, dispatcher.finish(worker, jobId, unencodableOutput(reason), false));
    },
    timings,
  });
  let earlierEnded: Promise<void> = Promise.resolve();
  let survivors: Survivor[] = [];
  const balancer = createBalancer({
    registry,
    waitReason: (endpointId) => health(endpointId).message,
    clock,
    timings,
  });
  const pool = createWorkerPool({
    registry,
    dispatcher,
    events,
    waitingWork,
    endpoints,
    hasExternalWorkers: tokens.isUsedExternally,
    starter,
    clock,
    timings,
    log,
  });
  registry.events.on("added", (worker) => {
    const onStoreError = (error: unknown): void => {
      log.error({ err: error, worker: worker.id }, "worker: result cannot be stored; stopping the worker");
      worker.kill(`could not return a result (${messageOf(error)})`, "result");
    };
    const { channel } = worker.process;
    if (channel) servePipe(channel, worker, { dispatcher, stream, onStoreError });
  });

  function failJob(jobId: string, failure: Promise<unknown>): void {
    failure.catch((error: unknown) => log.error({ err: error, job: jobId }, "job: cannot be failed"));
  }

  function* waitingWork(endpointId: string): Generator<WaitingWork> {
    yield* balancer.waiting(endpointId);
    for (const { id, queuedAt } of active.ready(endpointId).jobsForScaling)
      yield { queuedAt, reject: (error) => failJob(id, jobs.reject(id, error)) };
  }

  /** Adds an external worker, whose environment is unknown: its redaction covers the endpoint's current secrets and token. */
  function join(endpointId: string, id: string): Worker {
    const token = tokens.tokenOf(endpointId);
    const redact: Redact = (text) => createRedaction([...endpoints.secretValues(endpointId), token])(text);
    return registry.join({ id, endpointId, redact });
  }

  function health(endpointId: string): ReturnType<typeof readHealth> {
    return readHealth(endpointId, {
      counters,
      active,
      group: registry.group(endpointId),
      waitingRequests: balancer.waiting(endpointId).length,
      rules: endpoints.get(endpointId),
      mayStartWorkers: (id) => waitingWork(id).next().done !== true,
      lackOfStock: starter.lackOfStock,
      clock,
      timings,
    });
  }

  return {
    balancer,
    dispatcher,
    pool,
    tokens,

    health,

    /** Number of an endpoint's running workers; its rate limit depends on it. */
    countRunning: (endpointId: string): number => countRunning(registry.byEndpoint(endpointId), clock.now(), timings),

    /** The endpoint's workers and their states, with start times of the system's clock. */
    list(endpointId: string): WorkerState[] {
      return registry.byEndpoint(endpointId).map((worker) => {
        const state = stateOf(worker, endpoints.get(endpointId)?.version ?? 0, clock.now(), timings);
        return { ...state, startedAt: state.startedAt + clock.systemChange() };
      });
    },

    /** Ends the workers of a deleted endpoint and deletes their logs, homes and images, each even if another one remains. */
    async removeEndpoint(endpointId: string): Promise<void> {
      await pool.endWorkers(endpointId);
      registry.removeEndpoint(endpointId);
      const removals = [logs.remove(endpointId), runtime.removeEndpoint(endpointId), removeUnusedImages()];
      const failures = (await Promise.allSettled(removals)).flatMap((end) =>
        end.status === "rejected" ? [end.reason] : [],
      );
      // Another reason than files of another user may end.
      if (failures.length > 0) throw failures.find((reason) => !isForbidden(reason)) ?? failures[0];
    },

    removeVolume: runtime.removeVolume,

    /** Connects the runtime; rejects with a StartError if it is required and unavailable. */
    async open(): Promise<void> {
      ({ earlierEnded, survivors } = await runtime.open());
    },

    /** Returns whether a worker has survived an earlier service. */
    survives: (workerId: string): boolean => survivors.some((survivor) => survivor.workerId === workerId),

    /** Returns the worker that sent a request; an external worker joins with its first request. */
    identify(endpointId: string, workerId: string): Worker {
      let worker = registry.find(endpointId, workerId);
      if (!worker) {
        if (isLocalId(workerId))
          throw new ServiceError(
            "invalid",
            `worker "${workerId}": has ended; ids of external workers must not begin with "local-"`,
          );
        // Before the worker is added, so that the next call joins if the store fails.
        tokens.recordExternalUse(endpointId);
        worker = join(endpointId, workerId);
        log.info({ endpoint: endpointId, worker: workerId }, "worker: joined");
      }
      if (worker.seen()) log.info({ endpoint: endpointId, worker: workerId }, "worker: resumed its jobs");
      return worker;
    },

    /** Reserves the job of an external or adopted worker from before the service's start until the worker returns or `returnGrace` has passed. */
    awaitReturn({ id, endpointId, workerId, lowPriority }: RunningJob): void {
      const worker = registry.find(endpointId, workerId) ?? join(endpointId, workerId);
      worker.reassigned(id, lowPriority, timings.returnGrace);
    },

    /** Continues the workers that survived an earlier service, outdated ones until their jobs (of `busy` workers) have ended. */
    adoptSurvivors(busy: ReadonlySet<string>): void {
      for (const survivor of survivors) {
        const endpoint = endpoints.get(survivor.endpointId);
        const adopted = endpoint && starter.adopt(survivor, busy.has(survivor.workerId));
        if (endpoint && adopted) pool.adopt(endpoint, adopted.started, adopted.isCurrent);
      }
    },

    /**
     * Starts workers as soon as earlier workers have ended; resolves with facts about their place. Rejects with a StartError if no worker can
     * reach the service.
     */
    async start(): Promise<Record<string, string>> {
      const place = await runtime.listen();
      void earlierEnded
        .then(removeUnusedImages)
        .catch((error: unknown) => log.error({ err: error }, "workers of an earlier service: cannot be checked"))
        .then(() => pool.start());
      return place;
    },

    /** Waits up to `deadline` ms for running jobs and requests. No worker takes another job. */
    async drain(deadline: number): Promise<void> {
      await Promise.all([dispatcher.close(deadline), balancer.close(deadline)]);
    },

    /** Cleans up after the workers once the pool has stopped. */
    async close(): Promise<void> {
      await logs.flush();
      await runtime.close();
    },
  };

  async function removeUnusedImages(): Promise<void> {
    await runtime
      .removeUnusedImages(endpoints.images())
      .catch((error: unknown) => log.warn({ err: error }, "pulled images: not all could be removed"));
  }
}
