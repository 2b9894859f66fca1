import type { Logger } from "pino";
import { ServiceError } from "../errors";
import type { RunningJob } from "../queue/job";
import type { ServiceTimings } from "../timings";
import type { Redact } from "./redaction";
import { isLocalId, type WorkerRegistry } from "./registry";
import type { Worker } from "./worker";

export type WorkerRegistration = ReturnType<typeof createWorkerRegistration>;

/** Registers the workers that call the service: at their first request, and before they return to a started service. */
export function createWorkerRegistration({
  registry,
  timings,
  log,
  redactionOf,
  recordJoin,
}: {
  registry: Pick<WorkerRegistry, "find" | "join">;
  timings: Pick<ServiceTimings, "returnGrace">;
  log: Pick<Logger, "info">;
  /** Returns the redaction of an endpoint's external workers. */
  redactionOf(endpointId: string): Redact;
  /** Stores that an external worker has joined the endpoint. */
  recordJoin(endpointId: string): void;
}) {
  const join = (endpointId: string, id: string): Worker =>
    registry.join({ id, endpointId, redact: redactionOf(endpointId) });
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
      if (!existing) recordJoin(endpointId);
      const worker = existing ?? join(endpointId, workerId);
      if (!existing) log.info({ endpoint: endpointId, worker: workerId }, "worker: joined");
      if (worker.seen()) log.info({ endpoint: endpointId, worker: workerId }, "worker: resumed its jobs");
      return worker;
    },

    /** Reserves the job of an external or adopted worker from before the service's start until the worker returns or `returnGrace` has passed. */
    awaitReturn({ id, endpointId, workerId, lowPriority }: RunningJob): void {
      const worker = registry.find(endpointId, workerId) ?? join(endpointId, workerId);
      worker.reassigned(id, lowPriority, timings.returnGrace);
    },
  };
}
