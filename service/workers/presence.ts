import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { ServiceError } from "../errors";
import type { RunningJob } from "../jobs/job";
import type { JobTimings } from "../jobs/timings";
import { isLocalId, type Worker, type WorkerRegistry } from "./registry";

export type WorkerPresence = ReturnType<typeof createWorkerPresence>;

/** Records the signs of life of workers: joins, returns, requests for jobs and pings. */
export function createWorkerPresence({
  registry,
  clock,
  timings,
  log,
  joined,
  changed,
}: {
  registry: WorkerRegistry;
  clock: Clock;
  timings: JobTimings;
  log: Pick<Logger, "info">;
  /** Called before a worker elsewhere joins the endpoint. */
  joined(endpointId: string): void;
  /** Called after a change of the endpoint's workers. */
  changed(endpointId: string): void;
}) {
  return {
    /** Returns the worker that sent a request; a worker elsewhere joins with its first request. */
    greet(endpointId: string, workerId: string): Worker {
      const known = registry.find(endpointId, workerId);
      if (!known && isLocalId(workerId))
        throw new ServiceError(
          "invalid",
          `worker "${workerId}": has ended; workers elsewhere use ids that do not begin with "local-"`,
        );
      // Before the worker is added: if the store fails, the next call joins.
      if (!known) joined(endpointId);
      const worker = known ?? registry.add({ id: workerId, endpointId, local: false, now: clock.now() });
      if (!known) log.info({ endpoint: endpointId, worker: workerId }, "worker: joined");
      worker.lastSeenAt = clock.now();
      if (worker.awaitedUntil !== undefined) {
        worker.awaitedUntil = undefined;
        worker.suspectSince = undefined;
        worker.lastAskAt = clock.now();
        log.info({ endpoint: endpointId, worker: workerId }, "worker: returned to its jobs");
        changed(endpointId);
      }
      return worker;
    },

    /** Reserves a job that a worker elsewhere had when the service started, until the worker returns or `returnGrace` is over. */
    awaitReturn({ id, endpointId, workerId, lowPriority }: RunningJob): void {
      const now = clock.now();
      let worker = registry.find(endpointId, workerId);
      if (!worker) {
        worker = registry.add({ id: workerId, endpointId, local: false, now });
        worker.firstAskAt = now;
        worker.awaitedUntil = now + timings.returnGrace;
      }
      worker.jobs.set(id, { since: now, lowPriority, recovered: true });
    },

    /** Records that a worker requests a job; with the first request it has started. */
    asked(worker: Worker): void {
      worker.lastAskAt = clock.now();
      worker.unwell = undefined;
      if (worker.firstAskAt !== undefined) return;
      worker.firstAskAt = clock.now();
      worker.idleSince = clock.now();
      changed(worker.endpointId);
    },

    /** Records a ping with the ids of the worker's jobs; `unwell` is the reason why it reports itself unhealthy. */
    ping(worker: Worker, jobIds: string[], unwell: string | undefined): void {
      // From the first ping on, its silence is watched.
      if (!worker.pinged || worker.unwell !== unwell) changed(worker.endpointId);
      worker.pinged = true;
      worker.unwell = unwell;
      // Only a worker that sends ids reports that its other jobs are over.
      if (jobIds.length === 0) return;
      for (const jobId of [...worker.stopping.keys()]) if (!jobIds.includes(jobId)) worker.stopping.delete(jobId);
    },
  };
}
