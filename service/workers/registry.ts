import { randomBytes } from "node:crypto";
import type { Clock } from "serverless-compute-api/clock";
import type { JobEvents } from "../jobs/events";
import type { JobTimings } from "../jobs/timings";
import { ShortLivedMap } from "../short-lived-map";

/** A worker: a process started by this service, or one elsewhere that authenticates with the endpoint's token. */
export interface Worker {
  readonly id: string;
  readonly endpointId: string;
  /** True if the service started it and can end it. */
  readonly local: boolean;
  /** The endpoint's version that it was started for; of one elsewhere nothing is known. */
  readonly version: number | undefined;
  /** Work that the endpoint's type assigns to it. */
  serves: "jobs" | "requests";
  /** True if the endpoint has changed since its start, so that it is to be replaced. */
  stale: boolean;
  /** True if it ever completed a job. */
  worked: boolean;
  /** When it was started; of one in a container when its program began to run. */
  startedAt: number;
  /** True if its image is still being fetched: that may take any time. */
  preparing: boolean;
  /** When it asked for its first job; until then it starts up. */
  firstAskAt: number | undefined;
  lastAskAt: number;
  lastSeenAt: number;
  /** True if it ever pinged: from then on its silence means something. */
  pinged: boolean;
  /** Why it calls itself unhealthy. */
  unwell: string | undefined;
  /** Calls for a job that are held open now. */
  asking: number;
  /** When it had its last job; undefined while it has one. */
  idleSince: number;
  /** Jobs it runs, by their ids. */
  jobs: ShortLivedMap<string, AssignedJob>;
  /** Requests of a load balancer that it processes. */
  requests: number;
  /** Jobs that are over here and that it has to stop: since when, and whether it was told. */
  stopping: ShortLivedMap<string, { since: number; told: boolean }>;
  /** No more jobs: it ends when it is done. */
  retiring: boolean;
  /** When it was first found silent for too long. */
  suspectSince: number | undefined;
  /** Time until which a worker that had jobs when the service started, and has not called since, keeps them. */
  awaitedUntil: number | undefined;
}

interface AssignedJob {
  /** When it got the job; of one that it had before the service started, that start. */
  since: number;
  lowPriority: boolean;
  /** True if it had the job before the service started. */
  recovered: boolean;
}

export type WorkerPhase = "initializing" | "idle" | "running" | "unhealthy";

export const isBusy = (worker: Worker): boolean => worker.jobs.size + worker.stopping.size + worker.requests > 0;

/** Returns the phase of a worker, as counted by /health. */
export function phaseOf(worker: Worker, now: number, timings: JobTimings): WorkerPhase {
  if (worker.unwell !== undefined) return "unhealthy";
  if (worker.preparing) return "initializing";
  if (worker.firstAskAt === undefined)
    return now - worker.startedAt >= timings.takeSilence ? "unhealthy" : "initializing";
  return isBusy(worker) ? "running" : "idle";
}

/** Number of idle and running workers, without those that start or are unhealthy. */
export const countRunning = (workers: Worker[], now: number, timings: JobTimings): number =>
  workers.filter((worker) => ["idle", "running"].includes(phaseOf(worker, now, timings))).length;

const localPrefix = "local-";

/** A new id for a worker that the service starts. */
export const newLocalId = (): string => `${localPrefix}${randomBytes(6).toString("hex")}`;

/**
 * Returns true if an id is that of a worker that this service or an earlier one on its data folder started. Such a worker is in the
 * registry from its start to its end; at any other time it is one that was ended and still speaks for a moment.
 */
export const isLocalId = (id: string): boolean => id.startsWith(localPrefix);

export type WorkerRegistry = ReturnType<typeof createWorkerRegistry>;

/** The workers of all endpoints. */
export function createWorkerRegistry() {
  const endpoints = new Map<string, Map<string, Worker>>();
  const of = (endpointId: string): Worker[] => [...(endpoints.get(endpointId)?.values() ?? [])];
  return {
    of,
    find: (endpointId: string, id: string): Worker | undefined => endpoints.get(endpointId)?.get(id),
    all: (): Worker[] => [...endpoints.keys()].flatMap(of),
    add(added: { id: string; endpointId: string; local: boolean; version?: number; now: number }): Worker {
      const { id, endpointId, local, version, now } = added;
      const worker: Worker = {
        id,
        endpointId,
        local,
        version,
        serves: "jobs",
        stale: false,
        worked: false,
        startedAt: now,
        preparing: false,
        firstAskAt: undefined,
        lastAskAt: now,
        lastSeenAt: now,
        pinged: false,
        unwell: undefined,
        asking: 0,
        idleSince: now,
        jobs: new ShortLivedMap(),
        requests: 0,
        stopping: new ShortLivedMap(),
        retiring: false,
        suspectSince: undefined,
        awaitedUntil: undefined,
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

/** Waits until no worker runs a job, at most `deadline` ms. Workers that have not called since the start do not count. */
export async function waitForRunningJobs(
  { registry, events, clock }: { registry: Pick<WorkerRegistry, "all">; events: JobEvents; clock: Clock },
  deadline: number,
): Promise<void> {
  const isRunning = (): boolean =>
    registry.all().some(({ awaitedUntil, jobs }) => awaitedUntil === undefined && jobs.size > 0);
  const done = new AbortController();
  const check = (): void => {
    if (!isRunning()) done.abort();
  };
  // A worker's jobs change after the event.
  events.on("ended", () => setImmediate(check));
  events.on("queued", () => setImmediate(check));
  if (isRunning()) await clock.sleep(deadline, done.signal).catch(() => undefined);
}
