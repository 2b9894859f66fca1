import { setMaxListeners } from "node:events";
import { createClients, systemClock } from "serverless-compute-api";
import type { Findable } from "../lifecycle/create/creation";
import type { ImportedObject } from "../lifecycle/define-object";
import type { Listing } from "../lifecycle/listing";
import { explained } from "../lifecycle/messages";
import { type ObjectKind, objectKinds } from "../resources";
import { type ConfigLookup, keyExposures, resolveSettings } from "../settings/settings";

/** The objects of one account, listed once per kind. */
export interface Account {
  /** Root of its REST API. */
  baseUrl: string;
  list(kind: ObjectKind): Promise<Listing<Findable>>;
  /** The objects with the inputs that an import takes. */
  imports(kind: ObjectKind): Promise<Listing<ImportedObject>>;
  /** Reasons why a program with these inputs of an existing object is invalid. */
  mistakes(kind: ObjectKind, inputs: ImportedObject["inputs"]): string[];
  close(): Promise<void>;
}

/** Opens the clients of the settings in `config`, else in the environment. `notice` receives warnings. */
export function openClients(
  config: ConfigLookup | undefined,
  notice: (text: string) => void,
  environment?: NodeJS.ProcessEnv,
) {
  const settings = resolveSettings(config, environment);
  keyExposures(config, environment).forEach(notice);
  return { settings, clients: createClients(settings.clients) };
}

/**
 * Opens the account of the settings in `config`, else in the environment. Throws a sentence if they are incomplete. `notice`
 * receives warnings and progress.
 */
export function openAccount(
  config: ConfigLookup | undefined,
  notice: (text: string) => void,
  environment?: NodeJS.ProcessEnv,
): Account {
  const { settings, clients } = openClients(config, notice, environment);
  // Lists are kept by their age, so for a command that runs in one instant each is requested once.
  const started = systemClock.now();
  const { signal } = new AbortController();
  // Each object of a large account may wait for the same list; Node would warn of more than ten listeners.
  setMaxListeners(0, signal);
  const context = {
    clients,
    clock: { ...systemClock, now: () => started },
    signal,
    progress: notice,
    warn: () => {},
    held: new Map(),
    settings: settings.lifecycle,
  };
  const listed = async <Found>(kind: ObjectKind, listing: Promise<Listing<Found>>): Promise<Listing<Found>> => {
    try {
      return await listing;
    } catch (error) {
      throw explained(error, {
        label: `${kind} objects`,
        verb: "look up",
        settings: config ? undefined : "environment",
      });
    }
  };
  return {
    baseUrl: clients.baseUrl,
    list: (kind) => listed<Findable>(kind, objectKinds[kind].reads(context).all(context)),
    imports: (kind) => listed(kind, objectKinds[kind].imports(context)),
    mistakes: (kind, inputs) => {
      const naming = { seed: new Uint8Array() };
      const { failures } = objectKinds[kind].check(inputs, inputs, naming, [], clients.dialect);
      return failures.map(({ path, reason }) => `${path}: ${reason}`);
    },
    close: () => clients.close(),
  };
}
