import type { Clock } from "serverless-compute-api/clock";
import type { EndpointHealth } from "serverless-compute-api/shapes";
import type { JobCounters } from "../queue/counters";
import type { ActiveJobs } from "../queue/memory";
import type { ServiceTimings } from "../timings";
import type { WorkerRegistry } from "./registry";
import { isBusy, phaseOf } from "./worker-record";

/** The reason why jobs or requests wait although no start has failed; undefined if workers are idle or may still start. */
export function waitReason(
  workers: Record<"idle" | "running" | "initializing", number>,
  workersMax: number,
  noStock: string | undefined,
): string | undefined {
  const { running } = workers;
  if (workers.idle > 0 || workers.initializing > 0) return undefined;
  if (running > 0 && running >= workersMax)
    return `${running === 1 ? "the only worker is" : `all ${running} workers are`} busy, and workersMax is ${workersMax}`;
  return workersMax === 0 ? "workersMax is 0, so no worker starts" : noStock;
}

/**
 * Queue health of an endpoint (interface: Queue health). `completed`, `failed` (including timed out) and `retried` count since the
 * endpoint's creation; the other numbers are current. A ready worker is an idle worker with an open job-take.
 */
export function readHealth(
  endpointId: string,
  deps: {
    counters: Pick<JobCounters, "read">;
    active: Pick<ActiveJobs, "waiting" | "running">;
    registry: WorkerRegistry;
    /** Number of a load balancer's requests that wait for a worker. */
    waitingRequests: number;
    workersMax: number;
    lackOfStock(endpointId: string): string | undefined;
    throttled(endpointId: string): number;
    problem(endpointId: string): string | undefined;
    clock: Clock;
    timings: ServiceTimings;
  },
): EndpointHealth & { message?: string } {
  const { counters, active, registry, clock, timings } = deps;
  const now = clock.now();
  const workers = {
    idle: 0,
    running: 0,
    initializing: 0,
    ready: 0,
    throttled: deps.throttled(endpointId),
    unhealthy: 0,
  };
  for (const worker of registry.byEndpoint(endpointId)) {
    workers[phaseOf(worker, now, timings)]++;
    if (worker.openPolls > 0 && !isBusy(worker) && !worker.draining) workers.ready++;
  }
  const { COMPLETED: completed, FAILED, TIMED_OUT, retried } = counters.read(endpointId);
  const failed = FAILED + TIMED_OUT;
  const inProgress = active.running(endpointId);
  const jobs = { completed, failed, inProgress, inQueue: active.waiting(endpointId), retried };
  const message =
    deps.problem(endpointId) ??
    (jobs.inQueue + deps.waitingRequests > 0
      ? waitReason(workers, deps.workersMax, deps.lackOfStock(endpointId))
      : undefined);
  // An additional field, so that a smoke test can report why its job waits.
  return { jobs, workers, ...(message === undefined ? {} : { message }) };
}
