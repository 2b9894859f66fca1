import type { JobEvents } from "../queue/events";
import type { SteadyClock } from "../steady-clock";
import { type ServiceTimings, startFailureLimit } from "../timings";
import { nextBackoff, noBackoff } from "./backoff";
import type { StartedWorker, WorkerStarter } from "./launch";
import { startProblemOf } from "./problems";
import type { WorkerGroup, WorkerRegistry } from "./registry";
import { keepsJobs } from "./rollout";
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
  registry,
  events,
  waitingWork,
  hasExternalWorkers,
  clock,
  timings,
}: {
  starter: WorkerStarter;
  registry: Pick<WorkerRegistry, "events" | "group">;
  events: JobEvents;
  waitingWork(endpointId: string): Iterable<WaitingWork>;
  /** Returns whether an external worker has ever joined the endpoint. */
  hasExternalWorkers(endpointId: string): boolean;
  clock: SteadyClock;
  timings: ServiceTimings;
}) {
  events.on("ended", (job, before) => {
    // A failure reported by the handler counts as work of the worker; a crash does not.
    const isWorkerResult = job.status === "COMPLETED" || (job.status === "FAILED" && job.crashes === before.crashes);
    if (!isWorkerResult || before.status !== "IN_PROGRESS") return;
    const group = registry.group(job.endpointId);
    const worker = group?.workers.get(before.workerId);
    if (worker?.startError !== undefined) return;
    if (worker && job.status === "COMPLETED") worker.succeeded();
    else if (!worker?.outdated) recordSuccess(group);
  });
  // The behaviour of an outdated worker proves nothing about newly started ones.
  registry.events.on("succeeded", ({ endpointId, outdated }) => {
    if (!outdated) recordSuccess(registry.group(endpointId));
  });
  function recordSuccess(group: WorkerGroup | undefined): void {
    if (!group) return;
    group.backoff = noBackoff;
    group.crashProblem = undefined;
  }
  /** Records a crash or a failed start; `starting` is true if the worker had not requested a job yet. */
  function delayStarts(group: WorkerGroup, starting: boolean): void {
    group.backoff = nextBackoff(group.backoff, starting, clock.now(), timings);
  }

  function awaitRuntime(group: WorkerGroup, ready: Promise<void>): void {
    group.awaitsRuntime = true;
    void ready.then(() => {
      group.awaitsRuntime = false;
      registry.events.emit("changed", group.endpointId);
    });
  }
  /** Counts a failed start; after `startFailureLimit` consecutive failed starts, fails the waiting jobs and requests with the reason. */
  function countFailedStart(group: WorkerGroup, reason: string): void {
    delayStarts(group, true);
    const { endpointId, backoff, rollout } = group;
    // Other workers may run the jobs: external ones, and during a rollout the old ones or those of the next version.
    if (backoff.failedStarts < startFailureLimit || hasExternalWorkers(endpointId) || keepsJobs(rollout)) return;
    for (const work of [...waitingWork(endpointId)]) work.reject(reason);
  }
  /** Records that no worker can be started. A command that cannot run counts as a failed start; any other lack may end by itself. */
  function recordStartError(group: WorkerGroup, { error, isBroken }: CommandProblem): void {
    group.startProblem = error;
    events.emit("startFailed", group.endpointId);
    if (isBroken) countFailedStart(group, error);
    else delayStarts(group, false);
  }

  return {
    /** Starts up to `count` workers. Returns them, and the time of the next attempt if a backoff delays the others. */
    start(group: WorkerGroup, count: number): { started: StartedWorker[]; retryAt: number } {
      group.throttled = 0;
      const started: StartedWorker[] = [];
      while (started.length < count && !group.awaitsRuntime) {
        const retryAt = group.backoff.notBefore;
        if (retryAt > clock.now()) {
          group.throttled = count - started.length;
          return { started, retryAt };
        }
        const outcome = starter.start(group);
        if ("noStock" in outcome) {
          group.throttled = count - started.length;
          break;
        }
        if ("ready" in outcome) awaitRuntime(group, outcome.ready);
        else if ("error" in outcome) recordStartError(group, outcome);
        else started.push(outcome);
      }
      return { started, retryAt: Number.POSITIVE_INFINITY };
    },
    recordFailure(group: WorkerGroup, worker: ManagedWorker, end: ProcessEnd, isStarting: boolean): void {
      if (!isStarting) {
        delayStarts(group, false);
        return;
      }
      events.emit("startFailed", group.endpointId);
      group.startProblem = startProblemOf(worker, end);
      if (end.isMachineFull) delayStarts(group, false);
      else countFailedStart(group, group.startProblem);
    },
  };
}
