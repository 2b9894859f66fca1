import { notFound, ServiceError, serviceStopping } from "../errors";
import type { SteadyClock } from "../steady-clock";
import type { ServiceTimings } from "../timings";
import type { WorkerRegistry } from "./registry";
import type { WaitingWork } from "./starts";
import type { ManagedWorker, Worker } from "./worker";
import { checkHealth, type WorkerServer } from "./worker-server";

/** A request's claim to a worker, which does not stop until the lease is released. */
export interface Lease {
  workerId: string;
  server: WorkerServer;
  /** Ends the lease; `isHandled` is true if the worker handled the request. */
  release(isHandled: boolean): void;
}

/** A request waiting for a worker. */
interface Waiter {
  endpointId: string;
  queuedAt: number;
  assign(worker: Worker): void;
  fail(error: ServiceError): void;
}

export type Balancer = ReturnType<typeof createBalancer>;

/** Assigns the requests of load balancing endpoints to healthy workers. */
export function createBalancer({
  registry,
  waitReason,
  clock,
  timings,
}: {
  registry: Pick<WorkerRegistry, "byEndpoint" | "events">;
  /** Returns the reason why the endpoint's requests wait for a worker; undefined without one. */
  waitReason(endpointId: string): string | undefined;
  clock: SteadyClock;
  timings: Pick<ServiceTimings, "healthInterval" | "requestWait">;
}) {
  /** Servers of workers that have passed a health check. */
  const servers = new Map<Worker, WorkerServer>();
  const waiters = new Set<Waiter>();
  const waitersOf = (endpointId: string): Waiter[] => [...waiters].filter((waiter) => waiter.endpointId === endpointId);
  let leases = 0;
  let closing: AbortController | undefined;

  registry.events.on("added", (worker) => void watch(worker));

  /** The healthy worker with the fewest requests, preferably of the endpoint's current version. */
  function selectWorker(endpointId: string): Worker | undefined {
    const isReady = (worker: Worker): boolean =>
      servers.has(worker) && worker.unhealthyReason === undefined && !worker.draining;
    const compareWorkers = (a: Worker, b: Worker): number =>
      a.requests - b.requests || Number(a.outdated) - Number(b.outdated);
    return registry.byEndpoint(endpointId).filter(isReady).sort(compareWorkers)[0];
  }

  function lease(worker: Worker): Lease | undefined {
    const server = servers.get(worker);
    if (!server) return undefined;
    leases++;
    worker.leased();
    let isReleased = false;
    return {
      workerId: worker.id,
      server,
      release(isHandled) {
        if (isReleased) return;
        isReleased = true;
        leases--;
        if (isHandled) worker.succeeded();
        worker.unleased();
        if (leases === 0) closing?.abort();
      },
    };
  }

  function waitForWorker(endpointId: string, disconnect: AbortSignal): Promise<Worker> {
    return new Promise((resolve, reject) => {
      const ended = new AbortController();
      const removeWaiter = (): void => {
        ended.abort();
        waiters.delete(waiter);
        registry.events.emit("changed", endpointId);
      };
      const waiter: Waiter = {
        endpointId,
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
      waiters.add(waiter);
      disconnect.addEventListener("abort", () => waiter.fail(disconnectError()), {
        signal: ended.signal,
      });
      clock.sleep(timings.requestWait, ended.signal).then(
        () => waiter.fail(noWorkerError(timings.requestWait, waitReason(endpointId))),
        () => undefined,
      );
      registry.events.emit("changed", endpointId);
    });
  }

  /** Applies the result of a health check: 200 is healthy, 204 is initializing, everything else is unhealthy. */
  function applyHealthCheck(worker: Worker, server: WorkerServer, result: number | Error): void {
    if (result !== 200) {
      const resultText = result instanceof Error ? `failed: ${result.message}` : `returned ${result}`;
      worker.failedHealthCheck(`GET ${server.healthPath} on port ${server.healthPort} ${resultText}`);
      return;
    }
    worker.passedHealthCheck();
    servers.set(worker, server);
    for (const waiter of waitersOf(worker.endpointId)) {
      const healthyWorker = selectWorker(worker.endpointId);
      if (healthyWorker) waiter.assign(healthyWorker);
    }
  }

  /** Checks the health of a worker's server until the worker ends; ignores workers without a server. */
  async function watch(worker: ManagedWorker): Promise<void> {
    const ended = new AbortController();
    void worker.process.ended.then(() => {
      ended.abort();
      servers.delete(worker);
    });
    // Unknown if the container ends immediately, which is reported elsewhere.
    const server = await worker.process.server?.catch(() => undefined);
    if (!server) return;
    for (;;) {
      const result = await checkHealth(server);
      if (ended.signal.aborted) return;
      applyHealthCheck(worker, server, result);
      await clock.sleep(timings.healthInterval, ended.signal).catch(() => undefined);
    }
  }

  return {
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
    waiting: (endpointId: string): WaitingWork[] =>
      waitersOf(endpointId).map(({ queuedAt, fail }) => ({
        queuedAt,
        reject: (error) => fail(new ServiceError("badGateway", error)),
      })),

    /** Fails the waiting requests of a deleted endpoint. */
    rejectWaiting(endpointId: string): void {
      for (const waiter of waitersOf(endpointId)) waiter.fail(notFound("endpoint", endpointId));
    },

    /** Fails waiting requests; waits up to `deadline` ms for running requests. */
    async close(deadline: number): Promise<void> {
      closing = new AbortController();
      for (const waiter of waiters) waiter.fail(serviceStopping());
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
