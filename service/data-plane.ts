import { join } from "node:path";
import { messageOf, serviceStopping } from "./errors";
import { createFaults } from "./faults/faults";
import { createMetrics } from "./metrics/metrics";
import { createJobQueue } from "./queue";
import type { EndpointEvents } from "./resources/endpoint-table";
import { isForbidden } from "./store/data-folder";
import { moveOrphans } from "./store/orphans";
import { storePause } from "./timings";
import { createWorkers } from "./workers";
import { createWorkerLogs } from "./workers/logs";
import { isLocalId } from "./workers/registry";

/** Maximum pause between two attempts to remove a deleted object, ms. */
const maxRemovalPause = 60_000;

/** The data plane, which runs jobs: queue, injected faults and workers, and the removal of deleted endpoints from them. */
export function createDataPlane(
  deps: Omit<Parameters<typeof createWorkers>[0], "queue" | "faults" | "logs"> & {
    events: EndpointEvents;
    /** Receives warnings for the user. */
    onNotice(text: string): void;
  },
) {
  const { database, clock, settings, endpoints, events, log } = deps;
  const { dataFolder, timings } = settings;
  const exists = (endpointId: string): boolean => endpoints.get(endpointId) !== undefined;

  const queue = createJobQueue(database, { clock, timings, log, endpoint: endpoints.get });
  const { jobs, active } = queue;
  const file = join(dataFolder, "charts.json");
  const metrics = createMetrics({ events: queue.events, waiting: active.waiting, exists, clock: clock.system, file });
  const logs = createWorkerLogs(dataFolder, clock.system);
  const stopping = new AbortController();
  const faults = createFaults({
    clock,
    stopping: stopping.signal,
    exists,
    logNotice,
    // A worker that lacked stock may start.
    onReplaced: (endpointId) => pool.reconcile(endpointId),
  });
  const workers = createWorkers({ ...deps, queue, faults, logs });
  const { pool, tokens, health } = workers;
  const removals = new Set<Promise<void>>();

  events.on("endpointCreated", (endpointId) => {
    // Created early, so that external workers can use it before a local worker has started.
    tokens.tokenOf(endpointId);
    pool.reconcile(endpointId);
  });
  events.on("endpointDeleted", removeInBackground);
  events.on("volumeDeleted", (volume) =>
    runInBackground(removeWithRetries({ volume }, () => unlessForbidden({ volume }, workers.removeVolume(volume)))),
  );
  events.on("endpointChanged", (endpointId, { workersRestart }) => {
    queue.expiry.applyTimeoutChange();
    if (workersRestart) pool.replaceAll(endpointId);
    else pool.reconcile(endpointId);
  });

  function runInBackground(work: Promise<void>): void {
    const removal: Promise<void> = work.finally(() => removals.delete(removal));
    removals.add(removal);
  }

  function removeInBackground(endpoint: string): void {
    runInBackground(removeWithRetries({ endpoint }, () => removeEndpoint(endpoint)));
  }

  /** Removes a deleted endpoint's jobs, workers and files. */
  async function removeEndpoint(endpointId: string): Promise<void> {
    workers.balancer.rejectWaiting(endpointId);
    faults.removeEndpoint(endpointId);
    await jobs.removeEndpoint(endpointId);
    await unlessForbidden({ endpoint: endpointId }, workers.removeEndpoint(endpointId));
    // Last, because a worker that ends still uses the queue.
    active.removeEndpoint(endpointId);
    // After all else, because a start resumes the removal of an endpoint with a token.
    tokens.remove(endpointId);
  }

  /** Resolves when a removal has ended, even if files of another user remain. */
  async function unlessForbidden(facts: object, removal: Promise<void>): Promise<void> {
    await removal.catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
      log.error({ err: error, ...facts }, "deleted object: files of another user remain; delete them");
    });
  }

  /** Removes a deleted object, and tries again, for example while the cluster cannot be reached. A stop ends the attempts. */
  async function removeWithRetries(facts: object, remove: () => Promise<void>): Promise<void> {
    let reported = "";
    for (let pause = storePause; !stopping.signal.aborted; pause = Math.min(2 * pause, maxRemovalPause)) {
      try {
        return await remove();
      } catch (error) {
        const text = "deleted object: cannot be removed completely";
        if (messageOf(error) !== reported) log.error({ err: error, ...facts }, `${text}; retrying`);
        reported = messageOf(error);
        await clock.sleep(pause, stopping.signal).catch(() => undefined);
      }
    }
  }

  /** Writes a line into the logs of the service and of an endpoint's workers. */
  function logNotice(endpointId: string, text: string): void {
    log.info({ endpoint: endpointId }, text);
    logs.write(endpointId, text);
  }

  /** Moves files of objects that no longer exist out of the data folder's folders, except those of `endpointIds`. */
  function moveOrphanedFiles(endpointIds: ReadonlySet<string>): void {
    const volumeIds = endpoints.volumeIds();
    moveOrphans(
      dataFolder,
      (id) => volumeIds.has(id),
      (id) => endpointIds.has(id) || exists(id),
      (text) => {
        log.warn(text);
        deps.onNotice(text);
      },
    );
  }

  return {
    queue,
    workers,
    faults,
    metrics,

    /** Connects the runtime of workers; rejects with a StartError if it is required and unavailable. */
    open: workers.open,

    /**
     * Requeues jobs that were running when the service ended, and starts workers; resolves with facts about their place. The server must
     * already listen.
     */
    async start(): Promise<Record<string, string>> {
      metrics.start();
      // Most local workers end with their service; external workers may still run their jobs.
      const { runningJobs, endpointIds } = queue.recover(
        (workerId) => !isLocalId(workerId) || workers.survives(workerId),
      );
      workers.adoptSurvivors(new Set(runningJobs.map(({ workerId }) => workerId)));
      for (const job of runningJobs) workers.awaitReturn(job);
      // A kill may have interrupted the removal of an endpoint.
      const endpointIdsWithData = new Set([...endpointIds, ...tokens.endpoints()]);
      moveOrphanedFiles(endpointIdsWithData);
      for (const endpointId of endpointIdsWithData) if (!exists(endpointId)) removeInBackground(endpointId);
      for (const { id } of endpoints.all()) tokens.tokenOf(id);
      queue.start();
      return workers.start();
    },

    /** Replaces the endpoint's workers after their jobs; `reason` is written to the logs of the service and the workers. */
    restartWorkers(endpointId: string, reason: string): void {
      logNotice(endpointId, reason);
      pool.replaceAll(endpointId, true);
    },

    /** The data of the console. */
    view: {
      ...queue.list,
      retry: jobs.retry,
      health,
      workers: workers.list,
      readRanges: metrics.readRanges,
    },

    /**
     * Waits up to `deadline` ms for running jobs, then ends all workers, unless `leavesWorkers`: the next service adopts those that outlive
     * this one. The server must still listen, and the store must be open.
     */
    async stop(deadline: number, leavesWorkers: boolean): Promise<void> {
      await workers.drain(deadline);
      queue.pendingRequests.close();
      await pool.stop({ leavesWorkers });
      stopping.abort(serviceStopping());
      await Promise.all(removals);
      await queue.stop();
      await workers.close();
    },
  };
}
