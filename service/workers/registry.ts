import { randomBytes } from "node:crypto";
import type { JobTimings } from "../jobs/timings";
import { ShortLivedMap } from "../short-lived-map";
import type { Redact } from "./redaction";
import type { Location, Waiting } from "./runtimes/runtime";

/** A worker: a local process or container started by this service, or an external process with the endpoint's token. */
export interface Worker {
  readonly id: string;
  readonly endpointId: string;
  /** Redacts the worker's secrets in its texts, such as the errors of its handler. */
  readonly redact: Redact;
  /** The endpoint version of the worker; undefined for external workers. */
  readonly version: number | undefined;
  /** The kind of work, given by the endpoint's type. */
  workload: "jobs" | "requests";
  /** True if the endpoint has changed since the worker's start, so that the worker must be replaced. */
  stale: boolean;
  /** True if the worker has completed a job. */
  hasSucceeded: boolean;
  /** Start time, ms; for a container, the time at which its program began to run. */
  startedAt: number;
  /** True while the worker's image is being pulled, which has no time limit. */
  preparing: boolean;
  /** The reason why the worker, which has not sent a call yet, does not run jobs; undefined if nothing is known. */
  waiting: () => Waiting | undefined;
  /** Time of the first job-take; until then, the worker is starting. */
  firstTakeAt: number | undefined;
  lastTakeAt: number;
  lastSeenAt: number;
  /** True if the worker has sent a ping; from then on, silence is a problem. */
  hasPinged: boolean;
  /** The reason why the worker cannot start, which it reports with the error of its first job; undefined without one. */
  startError: string | undefined;
  /** The reason why the worker reports itself unhealthy; undefined if it does not. */
  unhealthyReason: string | undefined;
  /** Number of open job-takes. */
  openTakes: number;
  /** Time since which the worker has had no job. */
  idleSince: number;
  /** Running jobs by id. */
  jobs: ShortLivedMap<string, AssignedJob>;
  /** Number of running load balancer requests. */
  requests: number;
  /** Ended jobs that the worker must stop: since when, and whether the request to stop was sent. */
  stopping: ShortLivedMap<string, { since: number; sent: boolean }>;
  /** True if the worker gets no more jobs and ends after its current ones. */
  retiring: boolean;
  /** Time at which the worker was first found silent for too long. */
  silentSince: number | undefined;
  /** Time until which a worker from before the service's start keeps its jobs without a call. */
  returnDeadline: number | undefined;
}

interface AssignedJob {
  /** Start time of the job at this worker; for a recovered job, the service's start. */
  since: number;
  lowPriority: boolean;
  /** True if the job was assigned before the service started. */
  recovered: boolean;
}

type WorkerPhase = "initializing" | "idle" | "running" | "throttled" | "unhealthy";

export const isBusy = (worker: Worker): boolean => worker.jobs.size + worker.stopping.size + worker.requests > 0;

/** Returns the phase of a worker, as counted by /health. */
export function phaseOf(worker: Worker, now: number, timings: JobTimings): WorkerPhase {
  if (worker.unhealthyReason !== undefined) return "unhealthy";
  if (worker.preparing) return worker.waiting()?.lacksStock ? "throttled" : "initializing";
  if (worker.firstTakeAt === undefined)
    return now - worker.startedAt >= timings.takeSilence ? "unhealthy" : "initializing";
  return isBusy(worker) ? "running" : "idle";
}

/** Number of idle and running workers, excluding starting and unhealthy workers. */
export const countRunning = (workers: Worker[], now: number, timings: JobTimings): number =>
  workers.filter((worker) => ["idle", "running"].includes(phaseOf(worker, now, timings))).length;

const localPrefix = "local-";

/** Generates the id of a local worker. */
export const newLocalId = (): string => `${localPrefix}${randomBytes(6).toString("hex")}`;

/**
 * Returns whether an id belongs to a local worker of this service or an earlier one on its data folder. A local worker that is not in the
 * registry was ended, but may still send calls for a moment.
 */
export const isLocalId = (id: string): boolean => id.startsWith(localPrefix);

export type WorkerRegistry = ReturnType<typeof createWorkerRegistry>;

/** The workers of all endpoints. */
export function createWorkerRegistry() {
  const endpoints = new Map<string, Map<string, Worker>>();
  const byEndpoint = (endpointId: string): Worker[] => [...(endpoints.get(endpointId)?.values() ?? [])];
  return {
    byEndpoint,
    find: (endpointId: string, id: string): Worker | undefined => endpoints.get(endpointId)?.get(id),
    all: (): Worker[] => [...endpoints.keys()].flatMap(byEndpoint),
    add(options: Pick<Worker, "id" | "endpointId" | "redact"> & { version?: number; now: number }): Worker {
      const { id, endpointId, redact, version, now } = options;
      const worker: Worker = {
        id,
        endpointId,
        redact,
        version,
        workload: "jobs",
        stale: false,
        hasSucceeded: false,
        startedAt: now,
        preparing: false,
        waiting: () => undefined,
        firstTakeAt: undefined,
        lastTakeAt: now,
        lastSeenAt: now,
        hasPinged: false,
        startError: undefined,
        unhealthyReason: undefined,
        openTakes: 0,
        idleSince: now,
        jobs: new ShortLivedMap(),
        requests: 0,
        stopping: new ShortLivedMap(),
        retiring: false,
        silentSince: undefined,
        returnDeadline: undefined,
      };
      const workers = endpoints.get(endpointId) ?? new Map<string, Worker>();
      endpoints.set(endpointId, workers.set(id, worker));
      return worker;
    },
    remove(worker: Worker): void {
      const workers = endpoints.get(worker.endpointId);
      if (workers?.get(worker.id) !== worker) return;
      workers.delete(worker.id);
      if (workers.size === 0) endpoints.delete(worker.endpointId);
    },
  };
}

/** A worker of an endpoint. */
export interface WorkerState {
  id: string;
  status: WorkerPhase;
  /** Start time, ms since the epoch. */
  startedAt: number;
  /** The endpoint version of the worker; external workers count as the newest version. */
  version: number;
  /** True if the endpoint has changed since the worker's start, so that the worker will be replaced. */
  isStale: boolean;
  /** Location of the worker; undefined for a process, a container or an external worker. */
  location?: Location | undefined;
}

/** The state of a worker; an external worker counts as `newestVersion`. */
export function stateOf(worker: Worker, newestVersion: number, now: number, timings: JobTimings): WorkerState {
  const { id, startedAt, stale: isStale, version = newestVersion } = worker;
  return { id, status: phaseOf(worker, now, timings), startedAt, version, isStale };
}
