import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { Jobs } from "./jobs/jobs";
import { storePause } from "./jobs/timings";
import type { Workers } from "./workers";

/** Removes the remains of deleted endpoints from the job path. */
export function createEndpointRemoval({
  jobs,
  workers,
  removeFromMemory,
  clock,
  log,
}: {
  jobs: Pick<Jobs, "removeEndpoint">;
  workers: Pick<Workers, "removeEndpoint" | "removeVolume">;
  /** Deletes in-memory data, before the jobs and workers. */
  removeFromMemory(endpointId: string): void;
  clock: Clock;
  log: Pick<Logger, "warn" | "error">;
}) {
  const stopping = new AbortController();
  const pending = new Set<Promise<void>>();
  const runInBackground = (work: Promise<void>): void => {
    const task: Promise<void> = work.finally(() => pending.delete(task));
    pending.add(task);
  };

  /** Removes an endpoint's jobs, workers and files. */
  async function remove(endpointId: string): Promise<void> {
    removeFromMemory(endpointId);
    await jobs.removeEndpoint(endpointId);
    await workers.removeEndpoint(endpointId);
  }

  /** Removes an endpoint; retries while the store is locked or the disk is full. The next start removes the rest. */
  async function removeWithRetries(endpointId: string): Promise<void> {
    for (;;) {
      try {
        return await remove(endpointId);
      } catch (error) {
        log.error({ err: error, endpoint: endpointId }, "deleted endpoint: cannot be removed completely; retrying");
        await clock.sleep(storePause, stopping.signal).catch(() => undefined);
        if (stopping.signal.aborted) return;
      }
    }
  }

  return {
    remove,
    /** Removes an endpoint in the background; failures are logged and retried. */
    removeSoon: (endpointId: string): void => runInBackground(removeWithRetries(endpointId)),
    /** Deletes the folder of a deleted volume in the background; a failure is logged. */
    removeVolumeSoon: (volumeId: string): void =>
      runInBackground(
        workers
          .removeVolume(volumeId)
          .catch((error: unknown) =>
            log.warn({ err: error, volume: volumeId }, "volume: its folder could not be removed"),
          ),
      ),
    /** Ends retries; resolves when nothing is pending in the background. */
    settled: (): Promise<unknown> => {
      stopping.abort();
      return Promise.all(pending);
    },
  };
}
