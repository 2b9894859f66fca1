import type { ReadonlyShortLivedMap } from "../short-lived-map";
import type { ServiceTimings } from "../timings";
import type { Redact } from "./redaction";
import type { Location, Waiting, WorkerProcess } from "./runtimes/runtime";

/** A job that a worker runs. */
export interface AssignedJob {
  /** Start time of the job at this worker; for a recovered job, the service's start. */
  since: number;
  lowPriority: boolean;
  /** True if the job was assigned before the service started. */
  recovered: boolean;
}

/** A request to stop a job that has ended. */
export interface StopRequest {
  since: number;
  sent: boolean;
}

/** The loss for which the service ends a worker, so that the next start backs off; only a lost worker counts as a crash of its jobs. */
export type Loss = "worker" | "result";

/**
 * The state of a worker: managed by this service, or an external process with the endpoint's token. Only the verbs of worker.ts change it.
 */
export interface WorkerRecord {
  readonly id: string;
  readonly endpointId: string;
  /** Redacts the worker's secrets in its texts, such as the errors of its handler. */
  readonly redact: Redact;
  /** The endpoint version of the worker; undefined for external workers. */
  readonly version: number | undefined;
  /** Undefined for an external worker. */
  readonly process: WorkerProcess | undefined;
  readonly image: string | undefined;
  /** The kind of work, given by the endpoint's type. */
  readonly mode: "jobs" | "http";
  /** True if the endpoint has changed since the worker's start, so that the worker must be replaced. */
  readonly outdated: boolean;
  /** True if the worker has completed a job or handled a request. */
  readonly hasSucceeded: boolean;
  /** Start time, ms; for a container, the time at which its program began to run. */
  readonly startedAt: number;
  /** `preparing` until its program runs, for example while its image is pulled or no node has room, without a time limit, then `starting` until the first poll or passed health check. */
  readonly stage: "preparing" | "starting" | "ready";
  /** Time of the last poll or passed health check. */
  readonly lastReadyAt: number;
  readonly lastSeenAt: number;
  /** True if the worker has sent a heartbeat; from then on, silence is a problem. */
  readonly hasPinged: boolean;
  /** The reason why the worker cannot start, which it reports with the error of its first job; undefined without one. */
  readonly startError: string | undefined;
  /** The reason why the worker is unhealthy; undefined if it is not. */
  readonly unhealthyReason: string | undefined;
  /** Description of the last failed health check. */
  readonly failedCheck: string | undefined;
  readonly openPolls: number;
  /** Time since which the worker has had no job. */
  readonly idleSince: number;
  readonly jobs: ReadonlyShortLivedMap<string, Readonly<AssignedJob>>;
  /** Number of running load balancer requests. */
  readonly requests: number;
  /** Ended jobs that the worker must stop. */
  readonly stopping: ReadonlyShortLivedMap<string, Readonly<StopRequest>>;
  /** True if the worker gets no more jobs and ends after its current ones. */
  readonly draining: boolean;
  /** Time at which the worker was first found silent for too long. */
  readonly silentSince: number | undefined;
  /** Time until which a worker from before the service's start keeps its jobs without a call. */
  readonly returnDeadline: number | undefined;
  /** The reason why the service ends the worker; a worker that ends without a reason has crashed. */
  readonly endReason: string | undefined;
  readonly loss: Loss | undefined;
  /** True if the service has requested the end of the worker's process. */
  readonly stopped: boolean;
}

/** Returns whether a worker has jobs or requests, or has not stopped an ended job yet. */
export const isBusy = ({ jobs, stopping, requests }: Pick<WorkerRecord, "jobs" | "stopping" | "requests">): boolean =>
  jobs.size + stopping.size + requests > 0;

/** The reason why a worker, which has not sent a call yet, does not run jobs; undefined if nothing is known. */
export const waitingOf = ({ process }: Pick<WorkerRecord, "process">): Waiting | undefined => process?.waiting?.();

type WorkerPhase = "initializing" | "idle" | "running" | "throttled" | "unhealthy";

/** Returns the phase of a worker, as counted by /health. */
export function phaseOf(worker: WorkerRecord, now: number, timings: Pick<ServiceTimings, "takeSilence">): WorkerPhase {
  if (worker.unhealthyReason !== undefined) return "unhealthy";
  if (worker.stage === "preparing") return waitingOf(worker)?.lacksStock ? "throttled" : "initializing";
  if (worker.stage === "starting") return now - worker.startedAt >= timings.takeSilence ? "unhealthy" : "initializing";
  return isBusy(worker) ? "running" : "idle";
}

/** Number of idle and running workers, excluding starting and unhealthy workers. */
export const countRunning = (workers: WorkerRecord[], now: number, timings: ServiceTimings): number =>
  workers.filter((worker) => ["idle", "running"].includes(phaseOf(worker, now, timings))).length;

/** A worker of an endpoint, as the APIs show it. */
export interface WorkerState {
  id: string;
  status: WorkerPhase;
  /** Start time, ms of the steady clock. */
  startedAt: number;
  /** The endpoint version of the worker; external workers count as the newest version. */
  version: number;
  /** True if the endpoint has changed since the worker's start, so that the worker will be replaced. */
  isStale: boolean;
  /** Location of the worker; absent for a process, a container or an external worker. */
  location?: Location;
}

/** The state of a worker; an external worker counts as `newestVersion`. */
export function stateOf(
  worker: WorkerRecord,
  newestVersion: number,
  now: number,
  timings: ServiceTimings,
): WorkerState {
  const { id, startedAt, outdated: isStale, version = newestVersion, process } = worker;
  const location = process?.location?.();
  return { id, status: phaseOf(worker, now, timings), startedAt, version, isStale, ...(location && { location }) };
}
