import type { EndpointHealth } from "serverless-compute-api/shapes";
import type { JobCounters } from "../queue/counters";
import type { ActiveJobs } from "../queue/memory";
import type { EndpointRow } from "../resources/endpoint-table";
import type { SteadyClock } from "../steady-clock";
import type { ServiceTimings } from "../timings";
import { problemOf } from "./problems";
import type { WorkerGroup } from "./registry";
import { isBusy, phaseOf, type WorkerRecord } from "./worker-record";

/** The reason why jobs or requests wait although no start has failed; undefined if workers are idle or will start. */
export function waitReason({
  workers: { idle, running, initializing },
  rules: { type, workersMax, scalerType, scalerValue },
  noStock,
  unhealthy,
  mayStartWorkers,
}: {
  workers: Record<"idle" | "running" | "initializing", number>;
  rules: Pick<EndpointRow, "type" | "workersMax" | "scalerType" | "scalerValue">;
  noStock: string | undefined;
  /** Description of an unhealthy worker; undefined without one. */
  unhealthy: string | undefined;
  /** False if only low-priority jobs wait. */
  mayStartWorkers: boolean;
}): string | undefined {
  if (idle > 0 || initializing > 0) return undefined;
  const busy = running === 1 ? "the only worker is busy" : `all ${running} workers are busy`;
  if (running > 0 && running >= workersMax) return `${busy}, and workersMax is ${workersMax}`;
  if (workersMax === 0) return "workersMax is 0, so no worker starts";
  if (noStock !== undefined) return noStock;
  if (unhealthy !== undefined) return unhealthy;
  if (!mayStartWorkers)
    return "only low-priority jobs wait, and they start no worker; other jobs or workersMin start one";
  if (running === 0) return undefined;
  const work = type === "LB" ? "request" : "job";
  if (scalerType === "QUEUE_DELAY")
    return `${busy}; QUEUE_DELAY starts another once a ${work} has waited for ${scalerValue} s (scalerValue)`;
  const workPerWorker = scalerValue === 1 ? `waiting or running ${work}` : `${scalerValue} waiting or running ${work}s`;
  return `${busy}; REQUEST_COUNT starts one worker per ${workPerWorker} (scalerValue)`;
}

/** Description of a worker that became unhealthy after its start; undefined without one. */
function unhealthyWorker(workers: readonly WorkerRecord[]): string | undefined {
  const worker = workers.find(({ unhealthyReason }) => unhealthyReason !== undefined);
  return worker && `worker ${worker.id} is unhealthy: ${worker.redact(worker.unhealthyReason ?? "")}`;
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
    group: WorkerGroup | undefined;
    /** Number of a load balancer's requests that wait for a worker. */
    waitingRequests: number;
    rules: Parameters<typeof waitReason>[0]["rules"] | undefined;
    lackOfStock(endpointId: string): string | undefined;
    /** Returns false if only low-priority jobs wait. */
    mayStartWorkers(endpointId: string): boolean;
    clock: SteadyClock;
    timings: ServiceTimings;
  },
): EndpointHealth & { message?: string } {
  const { counters, active, group, clock, timings } = deps;
  const now = clock.now();
  const workers = {
    idle: 0,
    running: 0,
    initializing: 0,
    ready: 0,
    throttled: group?.throttled ?? 0,
    unhealthy: 0,
  };
  const endpointWorkers = [...(group?.workers.values() ?? [])];
  for (const worker of endpointWorkers) {
    workers[phaseOf(worker, now, timings)]++;
    if (worker.openPolls > 0 && !isBusy(worker) && !worker.draining) workers.ready++;
  }
  const { COMPLETED: completed, FAILED, TIMED_OUT, retried } = counters.read(endpointId);
  const failed = FAILED + TIMED_OUT;
  const inProgress = active.running(endpointId);
  const jobs = { completed, failed, inProgress, inQueue: active.waiting(endpointId), retried };
  const message =
    (group && problemOf(group, now, timings)) ??
    (deps.rules && jobs.inQueue + deps.waitingRequests > 0
      ? waitReason({
          workers,
          rules: deps.rules,
          noStock: deps.lackOfStock(endpointId),
          unhealthy: unhealthyWorker(endpointWorkers),
          mayStartWorkers: deps.mayStartWorkers(endpointId),
        })
      : undefined);
  // An additional field, so that a smoke test can report why its job waits.
  return { jobs, workers, ...(message === undefined ? {} : { message }) };
}
