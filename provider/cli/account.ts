import { createClients, systemClock } from "serverless-compute-api";
import { noSecrets } from "../framework/contract";
import type { NamedObject } from "../framework/definition";
import type { Listing } from "../framework/lists";
import { explainLookup } from "../framework/messages";
import type { ImportedObject } from "../framework/object";
import { type ObjectKind, objectKinds } from "../resources";
import { type ConfigLookup, keyExposures, resolveSettings } from "../settings/settings";

/** The objects of one account, listed once per kind. */
export interface Account {
  /** Root of its REST API. */
  baseUrl: string;
  list(kind: ObjectKind): Promise<Listing<NamedObject>>;
  /** Lists the objects with the inputs of an import. */
  listImports(kind: ObjectKind): Promise<Listing<ImportedObject>>;
  /** Reasons why a program with these inputs of an existing object is invalid. */
  invalidReasons(kind: ObjectKind, inputs: ImportedObject["inputs"]): string[];
  close(): Promise<void>;
}

/**
 * Opens the clients of the settings in `config`, else in the environment. `notify` receives warnings. `hasSecrets` is false for a
 * config with masked secrets.
 */
export function openClients(
  config: ConfigLookup | undefined,
  notify: (text: string) => void,
  environment?: NodeJS.ProcessEnv,
  hasSecrets?: boolean,
) {
  const settings = resolveSettings(config, environment, hasSecrets);
  keyExposures(config, environment).forEach(notify);
  return { settings, clients: createClients(settings.clients) };
}

/**
 * Opens the account of the settings in `config`, else in the environment. Throws an Error with a message for users if they are
 * incomplete. `notify` receives warnings and progress.
 */
export function openAccount(
  config: ConfigLookup | undefined,
  notify: (text: string) => void,
  environment?: NodeJS.ProcessEnv,
): Account {
  const { settings, clients } = openClients(config, notify, environment);
  // Cached lists expire by age; with a stopped clock, each is requested once.
  const startTime = systemClock.now();
  const { signal } = new AbortController();
  const context = {
    clients,
    clock: { ...systemClock, now: () => startTime },
    signal,
    progress: notify,
    warn: () => {},
    urn: "",
    owners: new Map(),
    secrets: noSecrets,
    settings: settings.lifecycle,
  };
  const explain = <Item>(kind: ObjectKind, list: () => Promise<Listing<Item>>): Promise<Listing<Item>> =>
    explainLookup(`${kind} objects`, settings.lifecycle, list);
  return {
    baseUrl: clients.baseUrl,
    list: (kind) => explain<NamedObject>(kind, () => objectKinds[kind].reader(context).list(context)),
    listImports: (kind) => explain(kind, () => objectKinds[kind].listImports(context)),
    invalidReasons: (kind, inputs) => {
      const naming = { seed: new Uint8Array() };
      const { failures } = objectKinds[kind].check(inputs, inputs, naming, [], clients.dialect);
      return failures.map(({ path, reason }) => `${path}: ${reason}`);
    },
    close: () => clients.close(),
  };
}
