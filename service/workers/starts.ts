import type { JobEvents } from "../queue/events";
import type { SteadyClock } from "../steady-clock";
import { type ServiceTimings, startFailureLimit } from "../timings";
import { createStartBackoff } from "./backoff";
import type { StartedWorker, WorkerStarter } from "./launch";
import type { WorkerProblems } from "./problems";
import type { WorkerRegistry } from "./registry";
import type { CommandProblem, ProcessEnd } from "./runtimes/runtime";
import type { ManagedWorker } from "./worker";

/** A waiting job or request that may start workers. Low-priority jobs do not; they wait for any worker. */
export interface WaitingWork {
  queuedAt: number;
  /** Fails it, because no worker starts. */
  reject(error: string): void;
}

/** Starts workers after their endpoint's backoff, once their runtime is known, and fails waiting jobs if workers do not start. */
export function createWorkerStarts({
  starter,
  problems,
  registry,
  events,
  waitingWork,
  mayReject,
  clock,
  timings,
}: {
  starter: WorkerStarter;
  problems: WorkerProblems;
  registry: Pick<WorkerRegistry, "events" | "find">;
  events: JobEvents;
  waitingWork(endpointId: string): Iterable<WaitingWork>;
  /** Returns false if other workers may run the endpoint's waiting jobs. */
  mayReject(endpointId: string): boolean;
  clock: SteadyClock;
  timings: ServiceTimings;
}) {
  const backoff = createStartBackoff(clock, timings);
  const throttled = new Map<string, number>();
  /** Endpoints whose workers start once their runtime is known. */
  const awaitingRuntime = new Set<string>();

  events.on("ended", (job, before) => {
    // A failure reported by the handler counts as work of the worker; a crash does not.
    const isWorkerResult = job.status === "COMPLETED" || (job.status === "FAILED" && job.crashes === before.crashes);
    if (!isWorkerResult || before.status !== "IN_PROGRESS") return;
    const worker = registry.find(job.endpointId, before.workerId);
    if (worker?.startError !== undefined) return;
    if (worker && job.status === "COMPLETED") worker.succeeded();
    else if (!worker?.outdated) recordSuccess(job.endpointId);
  });
  // The behaviour of an outdated worker proves nothing about newly started ones.
  registry.events.on("succeeded", ({ endpointId, outdated }) => {
    if (!outdated) recordSuccess(endpointId);
  });
  function recordSuccess(endpointId: string): void {
    backoff.reset(endpointId);
    problems.recordSuccess(endpointId);
  }

  function awaitRuntime(endpointId: string, ready: Promise<void>): void {
    awaitingRuntime.add(endpointId);
    void ready.then(() => {
      awaitingRuntime.delete(endpointId);
      registry.events.emit("changed", endpointId);
    });
  }
  /** Counts a failed start; after `startFailureLimit` consecutive failed starts, fails the waiting jobs and requests with the reason. */
  function countFailedStart(endpointId: string, reason: string): void {
    const failedStarts = backoff.recordFailure(endpointId, true);
    if (failedStarts < startFailureLimit || !mayReject(endpointId)) return;
    for (const work of [...waitingWork(endpointId)]) work.reject(reason);
  }
  /** Records that no worker can be started. A command that cannot run counts as a failed start; any other lack may end by itself. */
  function recordStartError(endpointId: string, { error, isBroken }: CommandProblem): void {
    problems.recordStartError(endpointId, error);
    events.emit("startFailed", endpointId);
    if (isBroken) countFailedStart(endpointId, error);
    else backoff.recordFailure(endpointId, false);
  }

  return {
    /** Starts up to `count` workers. Returns them, and the time of the next attempt if a backoff delays the others. */
    start(endpointId: string, count: number): { started: StartedWorker[]; retryAt: number } {
      throttled.delete(endpointId);
      const started: StartedWorker[] = [];
      while (started.length < count && !awaitingRuntime.has(endpointId)) {
        const retryAt = backoff.notBefore(endpointId);
        if (retryAt > clock.now()) {
          throttled.set(endpointId, count - started.length);
          return { started, retryAt };
        }
        const outcome = starter.start(endpointId);
        if ("noStock" in outcome) {
          throttled.set(endpointId, count - started.length);
          break;
        }
        if ("ready" in outcome) awaitRuntime(endpointId, outcome.ready);
        else if ("error" in outcome) recordStartError(endpointId, outcome);
        else started.push(outcome);
      }
      return { started, retryAt: Number.POSITIVE_INFINITY };
    },
    /** Number of workers that wait for the end of a backoff or for stock. */
    throttled: (endpointId: string): number => throttled.get(endpointId) ?? 0,
    recordFailure(worker: ManagedWorker, end: ProcessEnd, isStarting: boolean): void {
      const { endpointId } = worker;
      if (!isStarting) return void backoff.recordFailure(endpointId, false);
      events.emit("startFailed", endpointId);
      const reason = problems.recordFailedStart(worker, end);
      if (end.isMachineFull) backoff.recordFailure(endpointId, false);
      else countFailedStart(endpointId, reason);
    },
    /** Resets the backoff of a changed or deleted endpoint. */
    reset(endpointId: string): void {
      backoff.reset(endpointId);
      problems.reset(endpointId);
      throttled.delete(endpointId);
    },
  };
}
