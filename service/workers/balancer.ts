import { randomUUID } from "node:crypto";
import type { Clock } from "serverless-compute-api/clock";
import { notFound, ServiceError, serviceStopping } from "../errors";
import type { JobTimings } from "../jobs/timings";
import type { LocalWorker } from "./local-worker";
import type { WorkerPool } from "./pool";
import type { WorkerPresence } from "./presence";
import type { Worker, WorkerRegistry } from "./registry";
import { checkHealth, type WorkerServer } from "./worker-server";

/** A request's claim to a worker, which does not stop until the lease is released. */
export interface Lease {
  workerId: string;
  server: WorkerServer;
  /** Ends the lease; `isHandled` is true if the worker handled the request. */
  release(isHandled: boolean): void;
}

/** A request waiting for a worker. */
export interface Waiter {
  id: string;
  queuedAt: number;
  assign(worker: Worker): void;
  fail(error: ServiceError): void;
}

export type Balancer = ReturnType<typeof createBalancer>;

/** Assigns the requests of load balancing endpoints to healthy workers. */
export function createBalancer({
  registry,
  presence,
  clock,
  timings,
  pool,
}: {
  registry: Pick<WorkerRegistry, "byEndpoint">;
  presence: Pick<WorkerPresence, "recordJobTake">;
  clock: Clock;
  timings: Pick<JobTimings, "healthInterval" | "requestWait">;
  /** The pool, which reads `waiting`. */
  pool(): Pick<WorkerPool, "problem" | "review" | "recordWork">;
}) {
  /** Servers of workers that have passed a health check. */
  const servers = new Map<Worker, WorkerServer>();
  const requestReview = (endpointId: string): void => pool().review(endpointId);
  const endpoints = new Map<string, Set<Waiter>>();
  const waitersOf = (endpointId: string): Waiter[] => [...(endpoints.get(endpointId) ?? [])];
  let leases = 0;
  let closing: AbortController | undefined;

  /** The healthy worker with the fewest requests, preferably of the endpoint's current version. */
  function selectWorker(endpointId: string): Worker | undefined {
    const isReady = (worker: Worker): boolean =>
      servers.has(worker) && worker.unhealthyReason === undefined && !worker.retiring;
    const compareWorkers = (a: Worker, b: Worker): number =>
      a.requests - b.requests || Number(a.stale) - Number(b.stale);
    return registry.byEndpoint(endpointId).filter(isReady).sort(compareWorkers)[0];
  }

  function lease(worker: Worker): Lease | undefined {
    const server = servers.get(worker);
    if (!server) return undefined;
    leases++;
    worker.requests++;
    requestReview(worker.endpointId);
    let isReleased = false;
    return {
      workerId: worker.id,
      server,
      release(isHandled) {
        if (isReleased) return;
        isReleased = true;
        leases--;
        worker.requests--;
        if (worker.requests === 0) worker.idleSince = clock.now();
        if (isHandled) pool().recordWork(worker);
        requestReview(worker.endpointId);
        if (leases === 0) closing?.abort();
      },
    };
  }

  function waitForWorker(endpointId: string, disconnect: AbortSignal): Promise<Worker> {
    return new Promise((resolve, reject) => {
      const waiters = endpoints.get(endpointId) ?? new Set();
      const ended = new AbortController();
      const removeWaiter = (): void => {
        ended.abort();
        waiters.delete(waiter);
        if (waiters.size === 0) endpoints.delete(endpointId);
        requestReview(endpointId);
      };
      const waiter: Waiter = {
        id: randomUUID(),
        queuedAt: clock.now(),
        assign(worker) {
          removeWaiter();
          resolve(worker);
        },
        fail(error) {
          removeWaiter();
          reject(error);
        },
      };
      endpoints.set(endpointId, waiters.add(waiter));
      disconnect.addEventListener("abort", () => waiter.fail(disconnectError()), {
        once: true,
        signal: ended.signal,
      });
      clock.sleep(timings.requestWait, ended.signal).then(
        () => waiter.fail(noWorkerError(timings.requestWait, pool().problem(endpointId))),
        () => undefined,
      );
      requestReview(endpointId);
    });
  }

  /** Applies the result of a health check: 200 is healthy, 204 is initializing, everything else is unhealthy. */
  function applyHealthCheck(local: LocalWorker, server: WorkerServer, result: number | Error): void {
    const { worker } = local;
    if (result === 200) {
      const becameHealthy = !servers.has(worker) || worker.unhealthyReason !== undefined;
      presence.recordJobTake(worker);
      servers.set(worker, server);
      if (!becameHealthy) return;
      for (const waiter of waitersOf(worker.endpointId)) {
        const healthyWorker = selectWorker(worker.endpointId);
        if (healthyWorker) waiter.assign(healthyWorker);
      }
      requestReview(worker.endpointId);
      return;
    }
    const resultText = result instanceof Error ? `failed: ${result.message}` : `returned ${result}`;
    local.lastFailedCheck = `GET ${server.healthPath} on port ${server.healthPort} ${resultText}`;
    if (worker.firstTakeAt === undefined || worker.unhealthyReason !== undefined) return;
    worker.unhealthyReason = local.lastFailedCheck;
    requestReview(worker.endpointId);
  }

  return {
    /** Checks the health of a worker's server until the worker ends; ignores workers without a server. */
    async watch(local: LocalWorker): Promise<void> {
      const ended = new AbortController();
      void local.process.ended.then(() => {
        ended.abort();
        servers.delete(local.worker);
      });
      // Unknown if the container ends immediately, which is reported elsewhere.
      const server = await local.process.server?.catch(() => undefined);
      if (!server) return;
      for (;;) {
        const result = await checkHealth(server);
        if (ended.signal.aborted) return;
        applyHealthCheck(local, server, result);
        await clock.sleep(timings.healthInterval, ended.signal).catch(() => undefined);
      }
    },

    /** Leases a worker; waits for one up to `requestWait`. Rejects with a ServiceError after that, or if the client disconnects. */
    async lease(endpointId: string, disconnect: AbortSignal): Promise<Lease> {
      for (;;) {
        if (disconnect.aborted) throw disconnectError();
        if (closing) throw serviceStopping();
        const acquired = lease(selectWorker(endpointId) ?? (await waitForWorker(endpointId, disconnect)));
        if (acquired) return acquired;
      }
    },

    /** The endpoint's requests that wait for a worker. */
    waiting: (endpointId: string): Pick<Waiter, "id" | "queuedAt">[] => waitersOf(endpointId),

    /** Fails a waiting request because no worker starts; returns false if there is no such request. */
    reject(id: string, error: string): boolean {
      const waiter = [...endpoints.values()]
        .flatMap((waiters) => [...waiters])
        .find((candidate) => candidate.id === id);
      waiter?.fail(new ServiceError("badGateway", error));
      return waiter !== undefined;
    },

    /** Fails the waiting requests of a deleted endpoint. */
    rejectWaiting(endpointId: string): void {
      for (const waiter of waitersOf(endpointId)) waiter.fail(notFound("endpoint", endpointId));
    },

    /** Fails waiting requests; waits up to `deadline` ms for running requests. */
    async close(deadline: number): Promise<void> {
      closing = new AbortController();
      for (const endpointId of [...endpoints.keys()])
        for (const waiter of waitersOf(endpointId)) waiter.fail(serviceStopping());
      if (leases > 0) await clock.sleep(deadline, closing.signal).catch(() => undefined);
    },
  };
}

const disconnectError = (): ServiceError => new ServiceError("noWorker", "the client closed the connection");
const noWorkerError = (ms: number, reason: string | undefined): ServiceError =>
  new ServiceError(
    "noWorker",
    `no workers available within ${ms / 1000} s${reason === undefined ? "" : `: ${reason}`}`,
  );
