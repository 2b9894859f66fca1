import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { Faults } from "../faults/faults";
import type { JobEvents } from "../jobs/events";
import type { QueuedJob } from "../jobs/job";
import type { JobTimings } from "../jobs/timings";
import type { EndpointLookup } from "../resources/endpoint-lookup";
import type { EndpointRow } from "../resources/endpoint-table";
import type { Dispatcher } from "./dispatcher";
import type { StartedWorker, WorkerStarter } from "./launch";
import { kill, type LocalWorker, localWorkerOf } from "./local-worker";
import { createWorkerProblems } from "./problems";
import { isBusy, type Worker, type WorkerRegistry } from "./registry";
import { createReviews } from "./reviews";
import { createRollouts } from "./rollout";
import type { Location, ProcessEnd } from "./runtimes/runtime";
import { planWorkers } from "./scaler";
import { rulesOf, scalingState } from "./scaling-view";
import { createWorkerStarts } from "./starts";
import { checkWorker, type WorkerCheck } from "./watch";

export type WorkerPool = ReturnType<typeof createWorkerPool>;

const outdatedReason = "has an outdated configuration";

/** Starts, retires and replaces the workers of all endpoints by their scaling rules. */
export function createWorkerPool({
  registry,
  dispatcher,
  reject,
  events,
  waitingWork,
  serve,
  endpoints,
  hasExternalWorkers,
  starter,
  faults,
  clock,
  timings,
  log,
}: {
  registry: WorkerRegistry;
  dispatcher: Pick<Dispatcher, "dismiss" | "requeueAll">;
  /** Fails a waiting job or request because its endpoint's workers do not start. */
  reject(id: string, error: string): Promise<boolean>;
  events: JobEvents;
  /** The waiting jobs of an endpoint that may start workers. */
  waitingWork(endpointId: string): Iterable<Pick<QueuedJob, "id" | "queuedAt">>;
  /** Serves the worker's pipe or monitors its server. */
  serve(local: LocalWorker): void;
  endpoints: EndpointLookup;
  /** Returns whether an external worker has ever joined the endpoint. */
  hasExternalWorkers(endpointId: string): boolean;
  starter: WorkerStarter;
  faults: Pick<Faults, "crashesWorker">;
  clock: Clock;
  timings: JobTimings;
  log: Pick<Logger, "info" | "warn" | "error">;
}) {
  const processes = new Map<Worker, LocalWorker>();
  const rollouts = createRollouts();
  const problems = createWorkerProblems(clock, timings);
  const reviews = createReviews({
    endpoints: () => endpoints.all().map(({ id }) => id),
    review: reviewNow,
    clock,
    log,
  });
  const { schedule: review } = reviews;
  const starts = createWorkerStarts({
    starter,
    problems,
    registry,
    reject,
    events,
    waitingWork,
    clock,
    timings,
    log,
    review,
    add,
    // During a rollout, jobs wait for the old workers or the next version.
    mayReject: (endpointId) => !hasExternalWorkers(endpointId) && !rollouts.keepsJobs(endpointId),
  });
  const removals = new Set<Promise<void>>();
  let stopping = false;

  events.on("started", ({ id, endpointId, workerId }) => {
    const worker = registry.find(endpointId, workerId);
    const local = worker && processes.get(worker);
    if (local && faults.crashesWorker(endpointId, id)) local.process.kill();
  });

  /** The endpoint's workers, from the start to the end of their processes, without external workers. */
  const localWorkersOf = (endpointId: string): Worker[] =>
    registry.byEndpoint(endpointId).filter((worker) => processes.has(worker));

  /** Scales one endpoint by its rules; returns the time of the next pass. */
  function scale(endpointId: string): number {
    const endpoint = endpoints.get(endpointId);
    if (!endpoint || stopping) return Number.POSITIVE_INFINITY;
    const localWorkers = localWorkersOf(endpointId);
    const rules = rulesOf(endpoint);
    const state = scalingState(waitingWork(endpointId), localWorkers, clock.now(), timings);
    const plan = rollouts.plan(endpointId, rules, state, planWorkers(rules, state));
    if (
      localWorkers.some(
        ({ firstTakeAt, startError, stale }) => firstTakeAt !== undefined && startError === undefined && !stale,
      )
    )
      problems.recordStart(endpointId);
    for (const worker of localWorkers) {
      if (plan.retire.includes(worker.id)) retire(worker, worker.stale ? outdatedReason : "is no longer needed");
    }
    return Math.min(plan.reviewAt, starts.start(endpoint, plan.start));
  }

  /** Adds a newly started worker. */
  function add({ id: endpointId, version }: EndpointRow, started: StartedWorker): Worker {
    const worker = registry.add({ ...started, endpointId, version, now: clock.now() });
    const local = localWorkerOf(worker, started, clock, () => review(endpointId));
    processes.set(worker, local);
    serve(local);
    log.info({ endpoint: endpointId, worker: worker.id, version }, "worker: starting");
    const removal = started.process.ended
      .then((processEnd) => onEnd(local, processEnd))
      .finally(() => removals.delete(removal));
    removals.add(removal);
    return worker;
  }

  /** Continues a worker from before the service's start; an outdated one ends after its jobs. */
  function adopt(endpoint: EndpointRow, started: StartedWorker, isCurrent: boolean): void {
    const worker = add(endpoint, started);
    worker.firstTakeAt = clock.now();
    worker.stale = !isCurrent;
    if (!isCurrent) retire(worker, outdatedReason);
  }

  function retire(worker: Worker, reason: string): void {
    dispatcher.dismiss(worker);
    const local = processes.get(worker);
    if (local) local.reason ??= reason;
    stopWhenDone(worker);
  }

  /** Stops a retiring worker without jobs; an external worker joins again with its next call. */
  function stopWhenDone(worker: Worker): void {
    if (!worker.retiring || isBusy(worker)) return;
    const local = processes.get(worker);
    if (!local) return void endWorker(worker, "requested its replacement");
    if (local.stopped) return;
    local.stopped = true;
    local.reason ??= "requested its replacement";
    dispatcher.dismiss(worker);
    local.process.stop(timings.killGrace);
  }

  async function onEnd(local: LocalWorker, processEnd: ProcessEnd): Promise<void> {
    const { worker } = local;
    const { endpointId } = worker;
    processes.delete(worker);
    registry.remove(worker);
    dispatcher.dismiss(worker);
    log.info(
      { endpoint: endpointId, worker: worker.id, how: processEnd.description, reason: local.reason },
      "worker: ended",
    );
    if (stopping) return;
    const isFailure = local.reason === undefined || local.loss !== undefined;
    const isStarting = worker.firstTakeAt === undefined || worker.startError !== undefined;
    if (isFailure && (isStarting || worker.jobs.size > 0 || !processEnd.clean))
      starts.recordFailure(local, processEnd, isStarting);
    await dispatcher.requeueAll(worker, isFailure && local.loss !== "result" ? "crashed" : "interrupted", () =>
      problems.recordLostJob(endpointId, local, processEnd, isFailure),
    );
    review(endpointId);
  }

  /** Kills a local worker and returns it; forgets an external worker. */
  function endWorker(worker: Worker, reason: string, loss?: LocalWorker["loss"]): LocalWorker | undefined {
    dispatcher.dismiss(worker);
    const local = processes.get(worker);
    if (local) kill(local, reason, loss);
    else registry.remove(worker);
    return local;
  }

  /** Replaces a silent or hung worker. */
  async function replaceWorker(
    worker: Worker,
    { kind, reason }: Exclude<WorkerCheck, { kind: "healthy" }>,
  ): Promise<void> {
    log.warn({ endpoint: worker.endpointId, worker: worker.id }, `worker: ${reason}; replacing it`);
    const local = endWorker(worker, reason, kind === "lost" ? "worker" : undefined);
    const requeueReason = worker.returnDeadline === undefined ? "crashed" : "interrupted";
    const error = (): string => `the worker ${reason} while it ran the job`;
    if (!local) await dispatcher.requeueAll(worker, requeueReason, error);
    review(worker.endpointId);
  }

  /** Stops, starts, retires and replaces an endpoint's workers; returns the time of the next review. */
  function reviewNow(endpointId: string): number {
    for (const worker of registry.byEndpoint(endpointId)) stopWhenDone(worker);
    let reviewAt = scale(endpointId);
    // Includes new workers.
    for (const worker of registry.byEndpoint(endpointId)) {
      if (processes.get(worker)?.stopped) continue;
      const check = checkWorker(worker, clock.now(), timings);
      if (check.kind === "healthy") reviewAt = Math.min(reviewAt, check.reviewAt);
      else void replaceWorker(worker, check);
    }
    return reviewAt;
  }

  return {
    review,
    /**
     * Replaces the endpoint's workers gradually, busy workers after their jobs. Workers of a version that was rolled back before it
     * completed a job may hang; they are killed and their jobs requeued. With `restart`, no old worker takes another job.
     */
    replaceAll(endpointId: string, restart = false): void {
      starts.reset(endpointId);
      const workers = localWorkersOf(endpointId);
      const { unstarted, hung } = rollouts.start(endpointId, workers, endpoints.rolledBack(endpointId), restart);
      for (const worker of unstarted) retire(worker, outdatedReason);
      for (const worker of hung) endWorker(worker, "runs a version that was rolled back before it completed a job");
      if (restart) for (const worker of workers) dispatcher.dismiss(worker);
      review(endpointId);
    },
    /** Kills the endpoint's workers; resolves when they have ended. */
    async endWorkers(endpointId: string): Promise<void> {
      starts.reset(endpointId);
      rollouts.finish(endpointId);
      const endings = registry
        .byEndpoint(endpointId)
        .map((worker) => endWorker(worker, "belongs to a deleted endpoint")?.process.ended);
      await Promise.all(endings);
    },
    adopt,
    recordWork: starts.recordWork,
    /** Location of a worker of the service; undefined if nothing is known. */
    location: (worker: Worker): Location | undefined => processes.get(worker)?.process.location?.(),
    /** Number of workers that wait for the end of a backoff, or for stock. */
    throttled: starts.throttled,
    /** The reason why the endpoint's workers do not start, or why the last worker crashed; undefined without problems. */
    problem: (endpointId: string): string | undefined =>
      problems.of(
        endpointId,
        [...processes.values()].filter(({ worker }) => worker.endpointId === endpointId),
      ),
    start: reviews.start,
    /** Ends all workers; resolves when they have ended. */
    async stop(): Promise<void> {
      stopping = true;
      await reviews.stop();
      for (const { process } of processes.values()) process.stop(timings.killGrace);
      await Promise.all(removals);
    },
  };
}
