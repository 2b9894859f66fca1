import type { EventEmitter } from "node:events";
import { ShortLivedMap } from "../short-lived-map";
import type { SteadyClock } from "../steady-clock";
import type { Redact } from "./redaction";
import type { WorkerProcess } from "./runtimes/runtime";
import { type AssignedJob, isBusy, type Loss, type StopRequest, type WorkerRecord } from "./worker-record";

/** Events of workers. Listeners must not depend on their order. */
export type WorkerEvents = EventEmitter<{
  /** The service started or adopted a worker. */
  added: [worker: ManagedWorker];
  /** The workers of an endpoint, or its need for workers, changed. */
  changed: [endpointId: string];
  /** A worker completed a job or handled a request. */
  succeeded: [worker: WorkerRecord];
}>;

/** The program of a worker that this service started, as a process, a container or a pod. */
interface Program {
  process: WorkerProcess;
  image: string;
}

export interface NewWorker {
  id: string;
  endpointId: string;
  redact: Redact;
  version?: number;
}

type Mutable<Record> = { -readonly [Field in keyof Record]: Record[Field] };

/** The state that only the verbs can change. */
type State = Mutable<Omit<WorkerRecord, "jobs" | "stopping">> & {
  jobs: ShortLivedMap<string, AssignedJob>;
  stopping: ShortLivedMap<string, StopRequest>;
};

/** A worker: its state, and the verbs that change it. */
export type Worker = WorkerRecord & Verbs;

/** A worker that this service started. */
export type ManagedWorker = Worker & Readonly<Program>;

interface Surroundings {
  clock: SteadyClock;
  events: WorkerEvents;
}

/** Creates a worker; without a program, an external one. A worker does not count as late or silent while its image is pulled. */
export function createWorker(options: NewWorker & Program, surroundings: Surroundings): ManagedWorker;
export function createWorker(options: NewWorker, surroundings: Surroundings): Worker;
export function createWorker(
  { id, endpointId, redact, version, process, image }: NewWorker & Partial<Program>,
  surroundings: Surroundings,
): Worker {
  const now = surroundings.clock.now();
  const worker: State = {
    id,
    endpointId,
    redact,
    version,
    process,
    image,
    mode: process?.server ? "http" : "jobs",
    outdated: false,
    hasSucceeded: false,
    startedAt: now,
    stage: process?.started ? "preparing" : "starting",
    lastReadyAt: now,
    lastSeenAt: now,
    hasPinged: false,
    startError: undefined,
    unhealthyReason: undefined,
    failedCheck: undefined,
    openPolls: 0,
    idleSince: now,
    jobs: new ShortLivedMap(),
    requests: 0,
    stopping: new ShortLivedMap(),
    draining: false,
    silentSince: undefined,
    returnDeadline: undefined,
    endReason: undefined,
    loss: undefined,
    stopped: false,
  };
  const verbs = verbsOf(worker, surroundings);
  void process?.started?.then(verbs.programStarted);
  return Object.assign(worker, verbs);
}

type Verbs = ReturnType<typeof verbsOf>;

/** The changes of a worker's state. Each emits `changed`, unless its comment states otherwise. */
function verbsOf(worker: State, { clock, events }: Surroundings) {
  const changed = (): void => void events.emit("changed", worker.endpointId);

  /** Returns whether the worker had not been ready before. */
  function becomeReady(): boolean {
    worker.lastReadyAt = clock.now();
    if (worker.stage === "ready") return false;
    worker.stage = "ready";
    worker.idleSince = worker.lastReadyAt;
    return true;
  }

  function updateIdleTime(): void {
    if (!isBusy(worker)) worker.idleSince = clock.now();
  }

  return {
    /** A call arrived; emits only if the worker returned after the service's start. Returns whether it did. */
    seen(): boolean {
      worker.lastSeenAt = clock.now();
      if (worker.returnDeadline === undefined) return false;
      worker.returnDeadline = undefined;
      worker.silentSince = undefined;
      worker.lastReadyAt = worker.lastSeenAt;
      changed();
      return true;
    },
    /** The worker requested a job; emits only at its first request. */
    polled(): void {
      worker.unhealthyReason = undefined;
      if (becomeReady()) changed();
    },
    /** A poll for jobs is open; emits nothing. */
    pollOpened(): void {
      worker.openPolls++;
      worker.lastReadyAt = clock.now();
    },
    pollClosed(): void {
      worker.openPolls--;
      worker.lastReadyAt = clock.now();
      // Starts monitoring the worker's silence.
      changed();
    },
    /** The poll of a worker with a pipe ended, whose silence is not monitored; emits nothing. */
    pipePollClosed(): void {
      worker.openPolls--;
    },
    /** A health check of the worker's server passed; emits only if the worker became healthy. */
    passedHealthCheck(): void {
      const wasUnhealthy = worker.unhealthyReason !== undefined;
      worker.unhealthyReason = undefined;
      if (becomeReady() || wasUnhealthy) changed();
    },
    /** A health check failed; emits only if a healthy worker became unhealthy. */
    failedHealthCheck(description: string): void {
      worker.failedCheck = description;
      if (worker.stage !== "ready" || worker.unhealthyReason !== undefined) return;
      worker.unhealthyReason = description;
      changed();
    },
    /**
     * A heartbeat arrived with the ids of the worker's jobs; `unhealthyReason` is the reason if the worker reports itself unhealthy. Emits only
     * at the first heartbeat or if the worker's health changed.
     */
    heartbeat(jobIds: readonly string[], unhealthyReason: string | undefined): void {
      const isNews = !worker.hasPinged || worker.unhealthyReason !== unhealthyReason;
      worker.hasPinged = true;
      worker.unhealthyReason = unhealthyReason;
      // Only a heartbeat with ids implies that the worker's other jobs are over.
      if (jobIds.length > 0)
        for (const jobId of [...worker.stopping.keys()]) if (!jobIds.includes(jobId)) worker.stopping.delete(jobId);
      if (isNews) changed();
    },
    /** The worker got a job; emits nothing. */
    assigned(jobId: string, lowPriority: boolean): void {
      worker.jobs.set(jobId, { since: clock.now(), lowPriority, recovered: false });
    },
    /** The worker still has a job from before the service's start, and must return within `grace` ms; emits nothing. */
    reassigned(jobId: string, lowPriority: boolean, grace: number): void {
      const since = clock.now();
      if (worker.jobs.size === 0) {
        worker.stage = "ready";
        worker.returnDeadline = since + grace;
      }
      worker.jobs.set(jobId, { since, lowPriority, recovered: true });
    },
    /** The worker does not run a job. */
    released(jobId: string): void {
      worker.jobs.delete(jobId);
      worker.stopping.delete(jobId);
      updateIdleTime();
      changed();
    },
    /** A job of the worker ended, and the worker must stop it; `sent` is true if it has received the request. */
    stopRequested(jobId: string, sent: boolean): void {
      worker.jobs.delete(jobId);
      worker.stopping.set(jobId, { since: clock.now(), sent });
      changed();
    },
    /** Returns the jobs to stop whose requests were not sent, which count as sent; emits nothing. */
    sendStops(): string[] {
      const unsent = [...worker.stopping].filter(([, { sent }]) => !sent);
      for (const [, stop] of unsent) stop.sent = true;
      return unsent.map(([jobId]) => jobId);
    },
    /** The worker leases itself to a request. */
    leased(): void {
      worker.requests++;
      changed();
    },
    unleased(): void {
      worker.requests--;
      updateIdleTime();
      changed();
    },
    /** The worker completed a job or handled a request; emits `succeeded` instead. */
    succeeded(): void {
      worker.hasSucceeded = true;
      events.emit("succeeded", worker);
    },
    /** The worker reported that its start failed; emits nothing. */
    startFailed(error: string): void {
      worker.startError = error;
    },
    /** The worker continues from before the service's start; emits nothing. */
    adopted(): void {
      worker.stage = "ready";
    },
    /** The endpoint changed, so that the worker must be replaced; emits nothing. */
    becameOutdated(): void {
      worker.outdated = true;
    },
    /** The worker gets no more jobs, and ends for this reason; emits nothing. */
    drain(reason?: string): void {
      worker.draining = true;
      worker.endReason ??= reason;
    },
    /** A check found the worker silent; returns the time of the first of these checks. Emits nothing. */
    foundSilent(now: number): number {
      worker.silentSince ??= now;
      return worker.silentSince;
    },
    /** A check found the worker alive; emits nothing. */
    foundAlive(): void {
      worker.silentSince = undefined;
    },
    /** Requests the end of the worker's process (SIGTERM), and kills it `grace` ms later; emits nothing. */
    stop(reason: string, grace: number): void {
      if (worker.stopped) return;
      worker.stopped = true;
      worker.endReason ??= reason;
      worker.process?.stop(grace);
    },
    /** Kills the worker's process, because of a loss if there is one; emits nothing. */
    kill(reason: string, loss?: Loss): void {
      worker.loss ??= loss;
      worker.endReason ??= reason;
      worker.stopped = true;
      worker.process?.kill();
    },
    /** The image was pulled, and the worker's program runs. */
    programStarted(): void {
      if (worker.stage === "preparing") worker.stage = "starting";
      worker.startedAt = clock.now();
      changed();
    },
  };
}

/** Returns whether this service started a worker. */
export const isManaged = (worker: Worker): worker is ManagedWorker => worker.process !== undefined;
