import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { ServiceError } from "../errors";
import type { RunningJob } from "../jobs/job";
import type { JobTimings } from "../jobs/timings";
import type { Redact } from "./redaction";
import { isLocalId, type Worker, type WorkerRegistry } from "./registry";

export type WorkerPresence = ReturnType<typeof createWorkerPresence>;

/** Records the calls of workers: joins, returns, job-takes and pings. */
export function createWorkerPresence({
  registry,
  clock,
  timings,
  log,
  redactionOf,
  onJoin,
  onChange,
}: {
  registry: WorkerRegistry;
  clock: Clock;
  timings: JobTimings;
  log: Pick<Logger, "info">;
  /** Returns the redaction of an endpoint's external workers. */
  redactionOf(endpointId: string): Redact;
  /** Called before an external worker joins the endpoint. */
  onJoin(endpointId: string): void;
  /** Called after a change of the endpoint's workers. */
  onChange(endpointId: string): void;
}) {
  const add = (endpointId: string, id: string): Worker =>
    registry.add({ id, endpointId, redact: redactionOf(endpointId), now: clock.now() });
  return {
    /** Returns the worker that sent a request; an external worker joins with its first request. */
    identify(endpointId: string, workerId: string): Worker {
      const existing = registry.find(endpointId, workerId);
      if (!existing && isLocalId(workerId))
        throw new ServiceError(
          "invalid",
          `worker "${workerId}": has ended; ids of external workers must not begin with "local-"`,
        );
      // Before the worker is added, so that the next call joins if the store fails.
      if (!existing) onJoin(endpointId);
      const worker = existing ?? add(endpointId, workerId);
      if (!existing) log.info({ endpoint: endpointId, worker: workerId }, "worker: joined");
      worker.lastSeenAt = clock.now();
      if (worker.returnDeadline !== undefined) {
        worker.returnDeadline = undefined;
        worker.silentSince = undefined;
        worker.lastTakeAt = clock.now();
        log.info({ endpoint: endpointId, worker: workerId }, "worker: resumed its jobs");
        onChange(endpointId);
      }
      return worker;
    },

    /** Reserves the job of an external or adopted worker from before the service's start until the worker returns or `returnGrace` has passed. */
    awaitReturn({ id, endpointId, workerId, lowPriority }: RunningJob): void {
      const now = clock.now();
      const worker = registry.find(endpointId, workerId) ?? add(endpointId, workerId);
      if (worker.jobs.size === 0) {
        worker.firstTakeAt = now;
        worker.returnDeadline = now + timings.returnGrace;
      }
      worker.jobs.set(id, { since: now, lowPriority, recovered: true });
    },

    /** Records a job-take; the first job-take ends the worker's start. */
    recordJobTake(worker: Worker): void {
      worker.lastTakeAt = clock.now();
      worker.unhealthyReason = undefined;
      if (worker.firstTakeAt !== undefined) return;
      worker.firstTakeAt = clock.now();
      worker.preparing = false;
      worker.idleSince = clock.now();
      onChange(worker.endpointId);
    },

    /** Records a ping with the ids of the worker's jobs; `unhealthyReason` is the reason if the worker reports itself unhealthy. */
    ping(worker: Worker, jobIds: string[], unhealthyReason: string | undefined): void {
      // From the first ping on, the worker's silence is monitored.
      if (!worker.hasPinged || worker.unhealthyReason !== unhealthyReason) onChange(worker.endpointId);
      worker.hasPinged = true;
      worker.unhealthyReason = unhealthyReason;
      // Only a ping with ids implies that the worker's other jobs are over.
      if (jobIds.length === 0) return;
      for (const jobId of [...worker.stopping.keys()]) if (!jobIds.includes(jobId)) worker.stopping.delete(jobId);
    },
  };
}
