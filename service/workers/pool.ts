import type { Logger } from "pino";
import type { JobEvents } from "../queue/events";
import type { EndpointLookup } from "../resources/endpoint-lookup";
import type { EndpointRow } from "../resources/endpoint-table";
import { createScheduler } from "../scheduler";
import type { SteadyClock } from "../steady-clock";
import type { ServiceTimings } from "../timings";
import { noBackoff } from "./backoff";
import type { Dispatcher } from "./dispatcher";
import type { StartedWorker, WorkerStarter } from "./launch";
import { checkLiveness, type Liveness } from "./liveness";
import { crashProblemOf, lostJobError } from "./problems";
import type { WorkerGroup, WorkerRegistry } from "./registry";
import { planRollout, startRollout } from "./rollout";
import type { ProcessEnd } from "./runtimes/runtime";
import { planWorkers } from "./scaler";
import { rulesOf, scalingState } from "./scaling-view";
import { createWorkerStarts, type WaitingWork } from "./starts";
import { isManaged, type ManagedWorker, type Worker } from "./worker";
import { isBusy, type Loss } from "./worker-record";

const outdatedReason = "has an outdated configuration";
const replacementReason = "requested its replacement";

/** Starts, drains and replaces the workers of all endpoints by their scaling rules. */
export function createWorkerPool({
  registry,
  dispatcher,
  events,
  waitingWork,
  endpoints,
  hasExternalWorkers,
  starter,
  clock,
  timings,
  log,
}: {
  registry: WorkerRegistry;
  dispatcher: Pick<Dispatcher, "dismiss" | "requeueAll">;
  events: JobEvents;
  waitingWork(endpointId: string): Iterable<WaitingWork>;
  endpoints: EndpointLookup;
  /** Returns whether an external worker has ever joined the endpoint. */
  hasExternalWorkers(endpointId: string): boolean;
  starter: WorkerStarter;
  clock: SteadyClock;
  timings: ServiceTimings;
  log: Pick<Logger, "info" | "warn" | "error">;
}) {
  const scheduler = createScheduler(clock, reconcileAll, (error) =>
    log.error({ err: error }, "pool: pass failed; retrying"),
  );
  const starts = createWorkerStarts({ starter, registry, events, waitingWork, hasExternalWorkers, clock, timings });
  const removals = new Set<Promise<void>>();
  let hasStarted = false;
  let stopping = false;

  registry.events.on("changed", (endpointId) => schedule(registry.group(endpointId)));
  events.on("queued", ({ endpointId }) => schedule(registry.group(endpointId)));

  /** Schedules a pass for a changed endpoint. */
  function schedule(group: WorkerGroup | undefined): void {
    if (!group || !hasStarted || stopping || group.isScheduled) return;
    group.isScheduled = true;
    // Coalesces changes of one turn, some of which arrive in the middle of another change.
    setImmediate(() => {
      group.isScheduled = false;
      if (!stopping) scheduler.scheduleResultOf(() => reconcile(group));
    });
  }

  /** The workers, from the start to the end of their processes, without external workers. */
  const managedWorkers = ({ workers }: WorkerGroup): ManagedWorker[] => [...workers.values()].filter(isManaged);

  /** Scales one endpoint by its rules; returns the time of the next pass. */
  function scale(group: WorkerGroup): number {
    const endpoint = endpoints.get(group.endpointId);
    if (!endpoint || stopping) return Number.POSITIVE_INFINITY;
    const workers = managedWorkers(group);
    const rules = rulesOf(endpoint);
    const state = scalingState(waitingWork(group.endpointId), workers, clock.now(), timings);
    const { plan, rollout } = planRollout(rules, state, planWorkers(rules, state), group.rollout);
    group.rollout = rollout;
    if (workers.some(({ stage, startError, outdated }) => stage === "ready" && startError === undefined && !outdated))
      group.startProblem = undefined;
    for (const worker of workers) {
      if (plan.drain.includes(worker.id)) drain(worker, worker.outdated ? outdatedReason : "is no longer needed");
    }
    const { started, retryAt } = starts.start(group, plan.start);
    for (const worker of started) add(endpoint, worker);
    return Math.min(plan.replanAt, retryAt);
  }

  function add({ id: endpointId, version }: EndpointRow, started: StartedWorker): Worker {
    const worker = registry.add({ ...started, endpointId, version });
    log.info({ endpoint: endpointId, worker: worker.id, version }, "worker: starting");
    const removal = started.process.ended
      .then((processEnd) => onEnd(worker, processEnd))
      .finally(() => removals.delete(removal));
    removals.add(removal);
    return worker;
  }

  /** Continues a worker from before the service's start, whose jobs are assigned afterwards; an outdated one ends after them. */
  function adopt(endpoint: EndpointRow, started: StartedWorker, isCurrent: boolean): void {
    const worker = add(endpoint, started);
    worker.adopted();
    if (isCurrent) return;
    worker.becameOutdated();
    dispatcher.dismiss(worker, outdatedReason);
  }

  function drain(worker: Worker, reason: string): void {
    dispatcher.dismiss(worker, reason);
    stopWhenDone(worker);
  }

  /** Stops a draining worker without jobs; an external worker joins again with its next call. */
  function stopWhenDone(worker: Worker): void {
    if (!worker.draining || isBusy(worker) || worker.stopped) return;
    if (isManaged(worker)) {
      dispatcher.dismiss(worker);
      worker.stop(replacementReason, timings.killGrace);
    } else endWorker(worker, replacementReason);
  }

  async function onEnd(worker: ManagedWorker, processEnd: ProcessEnd): Promise<void> {
    const { endpointId, endReason: reason, loss } = worker;
    const group = registry.group(endpointId);
    registry.remove(worker);
    dispatcher.dismiss(worker);
    log.info({ endpoint: endpointId, worker: worker.id, how: processEnd.description, reason }, "worker: ended");
    if (stopping || !group) return;
    const isFailure = reason === undefined || loss !== undefined;
    const isStarting = worker.stage !== "ready" || worker.startError !== undefined;
    if (isFailure && (isStarting || worker.jobs.size > 0 || !processEnd.clean))
      starts.recordFailure(group, worker, processEnd, isStarting);
    if (isFailure && worker.jobs.size > 0) group.crashProblem = crashProblemOf(worker, processEnd);
    const requeueReason = isFailure && loss !== "result" ? "crashed" : "interrupted";
    await dispatcher.requeueAll(worker, requeueReason, lostJobError(worker, processEnd));
    schedule(group);
  }

  /** Kills a managed worker; forgets an external worker. */
  function endWorker(worker: Worker, reason: string, loss?: Loss): void {
    dispatcher.dismiss(worker);
    worker.kill(reason, loss);
    if (!isManaged(worker)) registry.remove(worker);
  }

  /** Replaces a silent or hung worker. */
  async function replaceWorker(
    group: WorkerGroup,
    worker: Worker,
    { kind, reason }: Exclude<Liveness, { kind: "healthy" }>,
  ): Promise<void> {
    log.warn({ endpoint: worker.endpointId, worker: worker.id }, `worker: ${reason}; replacing it`);
    endWorker(worker, reason, kind === "lost" ? "worker" : undefined);
    const requeueReason = worker.returnDeadline === undefined ? "crashed" : "interrupted";
    const error = `the worker ${reason} while it ran the job`;
    if (!isManaged(worker)) await dispatcher.requeueAll(worker, requeueReason, error);
    schedule(group);
  }

  /** Stops, starts, drains and replaces an endpoint's workers; returns the time of the next pass, Infinity for none. */
  function reconcile(group: WorkerGroup): number {
    for (const worker of [...group.workers.values()]) stopWhenDone(worker);
    let nextPass = scale(group);
    // Includes new workers.
    for (const worker of [...group.workers.values()]) {
      if (worker.stopped) continue;
      const liveness = checkLiveness(worker, clock.now(), timings);
      if (liveness.kind === "healthy") nextPass = Math.min(nextPass, liveness.checkAt);
      else void replaceWorker(group, worker, liveness);
    }
    return nextPass;
  }

  /** Reconciles all endpoints; returns the time of the next pass. */
  async function reconcileAll(): Promise<number> {
    return Math.min(
      ...endpoints.all().flatMap(({ id }) => {
        const group = registry.open(id);
        return group ? reconcile(group) : [];
      }),
    );
  }

  return {
    reconcile: (endpointId: string): void => schedule(registry.open(endpointId)),
    /**
     * Replaces the endpoint's workers gradually, busy workers after their jobs. Workers of a version that was rolled back before it
     * completed a job may hang; they are killed and their jobs requeued. With `restart`, no old worker takes another job.
     */
    replaceAll(endpointId: string, restart = false): void {
      const group = registry.open(endpointId);
      if (!group) return;
      const workers = managedWorkers(group);
      const rolledBack = endpoints.rolledBack(endpointId);
      const { rollout, unstarted, hung } = startRollout(group.rollout, workers, rolledBack, restart);
      group.rollout = rollout;
      // Earlier failures no longer matter.
      group.backoff = noBackoff;
      group.startProblem = undefined;
      group.crashProblem = undefined;
      for (const worker of unstarted) drain(worker, outdatedReason);
      for (const worker of hung) endWorker(worker, "runs a version that was rolled back before it completed a job");
      if (restart) for (const worker of workers) dispatcher.dismiss(worker);
      schedule(group);
    },
    /** Kills the endpoint's workers; resolves when they have ended. */
    async endWorkers(endpointId: string): Promise<void> {
      const workers = registry.byEndpoint(endpointId);
      for (const worker of workers) endWorker(worker, "belongs to a deleted endpoint");
      await Promise.all(workers.map(({ process }) => process?.ended));
    },
    adopt,
    /** Starts the passes, unless the pool has been stopped before. */
    start(): void {
      if (stopping) return;
      hasStarted = true;
      scheduler.start();
    },
    /** Ends all workers, unless they are left to the next service; resolves when they have ended. */
    async stop({ leavesWorkers }: { leavesWorkers: boolean }): Promise<void> {
      stopping = true;
      await scheduler.stop();
      if (leavesWorkers) return;
      for (const { process } of registry.all()) process?.stop(timings.killGrace);
      await Promise.all(removals);
    },
  };
}
