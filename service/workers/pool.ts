import type { Logger } from "pino";
import type { JobEvents } from "../queue/events";
import type { EndpointLookup } from "../resources/endpoint-lookup";
import type { EndpointRow } from "../resources/endpoint-table";
import { createScheduler } from "../scheduler";
import { ShortLivedMap } from "../short-lived-map";
import type { SteadyClock } from "../steady-clock";
import type { ServiceTimings } from "../timings";
import type { Dispatcher } from "./dispatcher";
import type { StartedWorker, WorkerStarter } from "./launch";
import { checkLiveness, type Liveness } from "./liveness";
import type { WorkerProblems } from "./problems";
import type { WorkerRegistry } from "./registry";
import { createRollouts } from "./rollout";
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
  problems,
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
  problems: WorkerProblems;
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
  const rollouts = createRollouts();
  const scheduler = createScheduler(clock, reconcileAll, (error) =>
    log.error({ err: error }, "pool: pass failed; retrying"),
  );
  /** Changed endpoints that the next turn of the event loop reconciles. */
  const pending = new ShortLivedMap<string, true>();
  const starts = createWorkerStarts({
    starter,
    problems,
    registry,
    events,
    waitingWork,
    clock,
    timings,
    // During a rollout, jobs wait for the old workers or the next version.
    mayReject: (endpointId) => !hasExternalWorkers(endpointId) && !rollouts.keepsJobs(endpointId),
  });
  const removals = new Set<Promise<void>>();
  let hasStarted = false;
  let stopping = false;

  registry.events.on("changed", schedule);
  events.on("queued", ({ endpointId }) => schedule(endpointId));

  /** Schedules a pass for a changed endpoint. */
  function schedule(endpointId: string): void {
    if (!hasStarted || stopping || pending.has(endpointId)) return;
    pending.set(endpointId, true);
    // Coalesces changes of one turn, some of which arrive in the middle of another change.
    setImmediate(() => {
      pending.delete(endpointId);
      if (!stopping) scheduler.scheduleResultOf(() => reconcile(endpointId));
    });
  }

  /** The endpoint's workers, from the start to the end of their processes, without external workers. */
  const managedWorkers = (endpointId: string): ManagedWorker[] => registry.byEndpoint(endpointId).filter(isManaged);

  /** Scales one endpoint by its rules; returns the time of the next pass. */
  function scale(endpointId: string): number {
    const endpoint = endpoints.get(endpointId);
    if (!endpoint || stopping) return Number.POSITIVE_INFINITY;
    const workers = managedWorkers(endpointId);
    const rules = rulesOf(endpoint);
    const state = scalingState(waitingWork(endpointId), workers, clock.now(), timings);
    const plan = rollouts.plan(endpointId, rules, state, planWorkers(rules, state));
    if (workers.some(({ stage, startError, outdated }) => stage === "ready" && startError === undefined && !outdated))
      problems.recordStart(endpointId);
    for (const worker of workers) {
      if (plan.drain.includes(worker.id)) drain(worker, worker.outdated ? outdatedReason : "is no longer needed");
    }
    const { started, retryAt } = starts.start(endpointId, plan.start);
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

  /** Continues a worker from before the service's start; an outdated one ends after its jobs. */
  function adopt(endpoint: EndpointRow, started: StartedWorker, isCurrent: boolean): void {
    const worker = add(endpoint, started);
    worker.adopted();
    if (isCurrent) return;
    worker.becameOutdated();
    drain(worker, outdatedReason);
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
    registry.remove(worker);
    dispatcher.dismiss(worker);
    log.info({ endpoint: endpointId, worker: worker.id, how: processEnd.description, reason }, "worker: ended");
    if (stopping) return;
    const isFailure = reason === undefined || loss !== undefined;
    const isStarting = worker.stage !== "ready" || worker.startError !== undefined;
    if (isFailure && (isStarting || worker.jobs.size > 0 || !processEnd.clean))
      starts.recordFailure(worker, processEnd, isStarting);
    await dispatcher.requeueAll(worker, isFailure && loss !== "result" ? "crashed" : "interrupted", () =>
      problems.recordLostJob(worker, processEnd, isFailure),
    );
    schedule(endpointId);
  }

  /** Kills a managed worker; forgets an external worker. */
  function endWorker(worker: Worker, reason: string, loss?: Loss): void {
    dispatcher.dismiss(worker);
    worker.kill(reason, loss);
    if (!isManaged(worker)) registry.remove(worker);
  }

  /** Replaces a silent or hung worker. */
  async function replaceWorker(
    worker: Worker,
    { kind, reason }: Exclude<Liveness, { kind: "healthy" }>,
  ): Promise<void> {
    log.warn({ endpoint: worker.endpointId, worker: worker.id }, `worker: ${reason}; replacing it`);
    endWorker(worker, reason, kind === "lost" ? "worker" : undefined);
    const requeueReason = worker.returnDeadline === undefined ? "crashed" : "interrupted";
    const error = (): string => `the worker ${reason} while it ran the job`;
    if (!isManaged(worker)) await dispatcher.requeueAll(worker, requeueReason, error);
    schedule(worker.endpointId);
  }

  /** Stops, starts, drains and replaces an endpoint's workers; returns the time of the next pass, Infinity for none. */
  function reconcile(endpointId: string): number {
    for (const worker of registry.byEndpoint(endpointId)) stopWhenDone(worker);
    let nextPass = scale(endpointId);
    // Includes new workers.
    for (const worker of registry.byEndpoint(endpointId)) {
      if (worker.stopped) continue;
      const liveness = checkLiveness(worker, clock.now(), timings);
      if (liveness.kind === "healthy") nextPass = Math.min(nextPass, liveness.checkAt);
      else void replaceWorker(worker, liveness);
    }
    return nextPass;
  }

  /** Reconciles all endpoints; returns the time of the next pass. */
  async function reconcileAll(): Promise<number> {
    return Math.min(...endpoints.all().map(({ id }) => reconcile(id)));
  }

  return {
    reconcile: schedule,
    /**
     * Replaces the endpoint's workers gradually, busy workers after their jobs. Workers of a version that was rolled back before it
     * completed a job may hang; they are killed and their jobs requeued. With `restart`, no old worker takes another job.
     */
    replaceAll(endpointId: string, restart = false): void {
      starts.reset(endpointId);
      const workers = managedWorkers(endpointId);
      const { unstarted, hung } = rollouts.start(endpointId, workers, endpoints.rolledBack(endpointId), restart);
      for (const worker of unstarted) drain(worker, outdatedReason);
      for (const worker of hung) endWorker(worker, "runs a version that was rolled back before it completed a job");
      if (restart) for (const worker of workers) dispatcher.dismiss(worker);
      schedule(endpointId);
    },
    /** Kills the endpoint's workers; resolves when they have ended. */
    async endWorkers(endpointId: string): Promise<void> {
      starts.reset(endpointId);
      rollouts.finish(endpointId);
      const workers = registry.byEndpoint(endpointId);
      for (const worker of workers) endWorker(worker, "belongs to a deleted endpoint");
      await Promise.all(workers.map(({ process }) => process?.ended));
    },
    adopt,
    /** Number of workers that wait for the end of a backoff, or for stock. */
    throttled: starts.throttled,
    /** Starts the passes, unless the pool has been stopped before. */
    start(): void {
      if (stopping) return;
      hasStarted = true;
      scheduler.start();
    },
    /** Ends all workers; resolves when they have ended. */
    async stop(): Promise<void> {
      stopping = true;
      await scheduler.stop();
      for (const { process } of registry.all()) process?.stop(timings.killGrace);
      await Promise.all(removals);
    },
  };
}
