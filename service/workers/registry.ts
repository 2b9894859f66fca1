import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import type { SteadyClock } from "../steady-clock";
import { createWorker, type ManagedWorker, type NewWorker, type Worker, type WorkerEvents } from "./worker";

const localPrefix = "local-";

/** Generates the id of a local worker. */
export const newLocalId = (): string => `${localPrefix}${randomBytes(6).toString("hex")}`;

/**
 * Returns whether an id belongs to a local worker of this service or an earlier one on its data folder. A local worker that is not in the
 * registry was ended, but may still send calls for a moment.
 */
export const isLocalId = (id: string): boolean => id.startsWith(localPrefix);

export type WorkerRegistry = ReturnType<typeof createWorkerRegistry>;

/** The workers of all endpoints, from their start or join to their end, and the events of all of them. */
export function createWorkerRegistry(clock: SteadyClock) {
  const events: WorkerEvents = new EventEmitter();
  const endpoints = new Map<string, Map<string, Worker>>();
  const byEndpoint = (endpointId: string): Worker[] => [...(endpoints.get(endpointId)?.values() ?? [])];

  function insert<Added extends Worker>(worker: Added): Added {
    const workers = endpoints.get(worker.endpointId) ?? new Map<string, Worker>();
    endpoints.set(worker.endpointId, workers.set(worker.id, worker));
    return worker;
  }

  return {
    events,
    byEndpoint,
    find: (endpointId: string, id: string): Worker | undefined => endpoints.get(endpointId)?.get(id),
    all: (): Worker[] => [...endpoints.keys()].flatMap(byEndpoint),
    /** Adds an external worker. */
    join: (worker: NewWorker): Worker => insert(createWorker(worker, { clock, events })),
    /** Adds a worker that the service started or adopted. */
    add(worker: NewWorker & Pick<ManagedWorker, "process" | "image">): ManagedWorker {
      const added = insert(createWorker(worker, { clock, events }));
      events.emit("added", added);
      return added;
    },
    remove(worker: Worker): void {
      const workers = endpoints.get(worker.endpointId);
      if (workers?.get(worker.id) !== worker) return;
      workers.delete(worker.id);
      if (workers.size === 0) endpoints.delete(worker.endpointId);
    },
  };
}
