import type { Clients } from "serverless-compute-api";
import type { Properties } from "../engine/values";
import type { OperationSettings } from "../settings/setting-names";
import type { ConfigLookup } from "../settings/settings";
import type { Context } from "./contract";

/** State of one deployment. The next deployment of the process begins with a new one. */
export interface Deployment {
  config: ConfigLookup;
  /** The clients and settings after the first connect. */
  connection?: { clients: Clients; settings: OperationSettings };
  /** Non-secret properties of the objects that the deployment found or created, by id. */
  readonly objects: Map<string, Properties>;
  /** Ids of the objects that the deployment found in the state or adopted. */
  readonly ownedIds: Context["ownedIds"];
  /** URNs of resources that were checked but not compared yet. A diff without a check belongs to a refresh. */
  readonly checkedUrns: Set<string>;
  /** Lookups of objects in the state. */
  readonly lookupCounts: { found: number; missing: number };
  /** Warnings that are logged once. */
  readonly warned: Set<"hosted" | "exposure" | "preflight">;
}

/** Begins a deployment. */
export const createDeployment = (config: ConfigLookup): Deployment => ({
  config,
  objects: new Map(),
  ownedIds: new Map(),
  checkedUrns: new Set(),
  lookupCounts: { found: 0, missing: 0 },
  warned: new Set(),
});

/**
 * Defines a value that the operations of a deployment share, and returns its accessor. Each deployment has its own clients, so a
 * later deployment of the process begins with a new value.
 */
export function sharedValue<Value extends object>(
  create: (clients: Clients) => Value,
): (context: { clients: Clients }) => Value {
  const values = new WeakMap<Clients, Value>();
  return ({ clients }) => {
    const shared = values.get(clients) ?? create(clients);
    values.set(clients, shared);
    return shared;
  };
}
