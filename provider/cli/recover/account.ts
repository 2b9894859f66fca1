import { type Clients, createClients, systemClock } from "serverless-compute-api";
import { z } from "zod";
import type { Findable } from "../../lifecycle/create/creation";
import type { Listing } from "../../lifecycle/listing";
import { isSecret } from "../../protocol/values";
import { type ObjectKind, objectKinds } from "../../resources";
import { type ConfigLookup, keyExposures, resolveSettings } from "../../settings/settings";
import { type ExportedState, referenceTo } from "../state";

/** The objects of one account, listed once per kind. */
export interface Account {
  /** Root of its REST API. */
  baseUrl: string;
  list(kind: ObjectKind): Promise<Listing<Findable>>;
  close(): Promise<void>;
}

type Environment = NodeJS.ProcessEnv;

const secretShape = z.looseObject({ plaintext: z.string() });

/** A setting's text in state; undefined if it is encrypted there. */
function settingText(value: unknown): string | undefined {
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (!isSecret(value)) return undefined;
  const { data } = secretShape.safeParse(value);
  return data && settingText(JSON.parse(data.plaintext));
}

/**
 * The settings of a provider in state. The engine stores the stack's config on the default provider, under full names for
 * dynamic resources, and under short names for the plugin.
 */
function settingsIn(state: ExportedState, reference: string | undefined): ConfigLookup {
  const provider = state.deployment.resources?.find((one) => referenceTo(one) === reference);
  const inputs = provider?.inputs ?? {};
  return (key) => settingText(inputs[key] ?? inputs[key.slice(key.indexOf(":") + 1)]);
}

/**
 * Opens the account of a provider in state, with its settings there, else those of the environment. Throws a sentence if the
 * settings are incomplete.
 */
export function openAccount(
  state: ExportedState,
  provider: string | undefined,
  notice: (text: string) => void,
  environment?: Environment,
): Account {
  const settings = resolveSettings(settingsIn(state, provider), environment);
  keyExposures(settings.clients).forEach(notice);
  const clients: Clients = createClients(settings.clients);
  const { signal } = new AbortController();
  const context = { clients, clock: systemClock, signal, progress: notice };
  const listings = new Map<ObjectKind, Promise<Listing<Findable>>>();
  return {
    baseUrl: clients.baseUrl,
    list: (kind) => {
      const listing = listings.get(kind) ?? objectKinds[kind].reads(context).all(context);
      listings.set(kind, listing);
      return listing;
    },
    close: () => clients.close(),
  };
}
