import type { Clients, Dialect } from "serverless-compute-api";
import type { OperationSettings } from "../settings/setting-names";
import {
  type ConfigLookup,
  type PreflightMode,
  resolveDialect,
  resolvePreflight,
  resolveServerlessUrl,
} from "../settings/settings";
import type { Context } from "./contract";

/** The configuration of a deployment. Each setting is read at its first use; only valid ones are kept. */
export interface Configuration {
  get: ConfigLookup;
  /** Returns the dialect; requires no API key. Throws if a setting is invalid. */
  dialect(): Dialect;
  /** Returns the preflight mode; requires no API key. Throws if the setting is invalid. */
  preflight(): PreflightMode;
  /** Returns the host address of the job API; undefined if it is invalid. Requires no API key. */
  serverlessUrl(): string | undefined;
}

/** Returns a function that returns the result of the first call that did not throw. */
function once<Result>(read: () => Result): () => Result {
  let first: { result: Result } | undefined;
  return () => {
    first ??= { result: read() };
    return first.result;
  };
}

/** Returns a configuration that reads its values from a source. */
export const createConfiguration = (get: ConfigLookup): Configuration => ({
  get,
  dialect: once(() => resolveDialect(get)),
  preflight: once(() => resolvePreflight(get)),
  serverlessUrl: once(() => resolveServerlessUrl(get)),
});

/** State of one deployment. The next deployment of the process begins with a new one. */
export interface Deployment {
  configuration: Configuration;
  /** The clients and settings after the first connect. */
  connection?: { clients: Clients; settings: OperationSettings };
  readonly owners: Context["owners"];
  /** URNs of resources that were checked but not compared yet. */
  readonly checkedUrns: Set<string>;
  /** Lookups of objects in the state. */
  readonly lookupCounts: { found: number; missing: number };
  /** Warnings that are logged once. */
  readonly warned: Set<"hosted" | "exposure" | "preflight">;
}

/** Begins a deployment. */
export const createDeployment = (get: ConfigLookup): Deployment => ({
  configuration: createConfiguration(get),
  owners: new Map(),
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
