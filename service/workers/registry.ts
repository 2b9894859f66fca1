import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import type { SteadyClock } from "../steady-clock";
import { type Backoff, noBackoff } from "./backoff";
import type { Rollout } from "./rollout";
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

/** The workers of an endpoint and the state of their starts, from the endpoint's creation to its removal. */
export interface WorkerGroup {
  readonly endpointId: string;
  /** The workers, from their start or join to their end, by id. */
  readonly workers: Map<string, Worker>;
  backoff: Backoff;
  /** The replacement of the workers after a change; undefined without one. */
  rollout: Rollout | undefined;
  /** Number of workers that wait for the end of a backoff, or for stock. */
  throttled: number;
  /** The reason why no worker starts; undefined once a worker has started. */
  startProblem: string | undefined;
  /** The reason why the last worker crashed; undefined once a worker has ended a job. */
  crashProblem: string | undefined;
  /** The last reason or lack of stock in the logs, so that each is logged once. */
  loggedProblem: string | undefined;
  /** True while the runtime of the endpoint's image is unknown or ports are being reserved, so that no worker starts. */
  awaitsRuntime: boolean;
  /** True if the next turn of the event loop reconciles the endpoint. */
  isScheduled: boolean;
}

/** The groups of all endpoints, and the events of all workers. `exists` returns false for a deleted endpoint. */
export function createWorkerRegistry(clock: SteadyClock, exists: (endpointId: string) => boolean) {
  const events: WorkerEvents = new EventEmitter();
  const groups = new Map<string, WorkerGroup>();
  const byEndpoint = (endpointId: string): Worker[] => [...(groups.get(endpointId)?.workers.values() ?? [])];

  /** Returns the endpoint's group, which the first call creates; undefined after the removal of a deleted endpoint's group. */
  function open(endpointId: string): WorkerGroup | undefined {
    const known = groups.get(endpointId);
    if (known || !exists(endpointId)) return known;
    const group: WorkerGroup = {
      endpointId,
      workers: new Map(),
      backoff: noBackoff,
      rollout: undefined,
      throttled: 0,
      startProblem: undefined,
      crashProblem: undefined,
      loggedProblem: undefined,
      awaitsRuntime: false,
      isScheduled: false,
    };
    groups.set(endpointId, group);
    return group;
  }

  function insert<Added extends Worker>(worker: Added): Added {
    open(worker.endpointId)?.workers.set(worker.id, worker);
    return worker;
  }

  return {
    events,
    open,
    /** Returns the endpoint's group; undefined before its creation and after its removal. */
    group: (endpointId: string): WorkerGroup | undefined => groups.get(endpointId),
    byEndpoint,
    find: (endpointId: string, id: string): Worker | undefined => groups.get(endpointId)?.workers.get(id),
    all: (): Worker[] => [...groups.keys()].flatMap(byEndpoint),
    /** Adds an external worker. */
    join: (worker: NewWorker): Worker => insert(createWorker(worker, { clock, events })),
    /** Adds a worker that the service started or adopted. */
    add(worker: NewWorker & Pick<ManagedWorker, "process" | "image">): ManagedWorker {
      const added = insert(createWorker(worker, { clock, events }));
      events.emit("added", added);
      return added;
    },
    remove(worker: Worker): void {
      const workers = groups.get(worker.endpointId)?.workers;
      if (workers?.get(worker.id) === worker) workers.delete(worker.id);
    },
    removeEndpoint: (endpointId: string): void => void groups.delete(endpointId),
  };
}
