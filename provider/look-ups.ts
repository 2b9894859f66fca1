import type {
  Clients,
  EndpointHealth,
  NetworkVolumeRecord,
  SecretRecord,
  ServerlessEndpointRecord,
  TemplateRecord,
} from "serverless-compute-api";
import type { LookUp } from "./lifecycle/look-ups";
import { inOneLine } from "./one-line-errors";
import { programSettings } from "./program-config";
import type { Settings } from "./settings";

export type { LookUp };

export interface LookUpOptions {
  /** Where the service is; from the stack's config or the environment when absent, as for resources. */
  settings?: Pick<Settings, "clients">;
  /** Ends the look-up; it rejects with the signal's reason. */
  signal?: AbortSignal;
}

interface LookUpContext {
  clients: Clients;
  clock: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> };
  signal: AbortSignal;
  progress(text: string): void;
}

type LookUps = typeof import("./lifecycle/look-ups");

/** Runs one look-up over clients of its own. They are loaded here, so that a program without look-ups starts without them. */
async function look<Found>(
  options: LookUpOptions,
  act: (lookUps: LookUps, context: LookUpContext) => Promise<Found>,
): Promise<Found> {
  const { createClients, systemClock } = await import("serverless-compute-api");
  const lookUps = await import("./lifecycle/look-ups.js");
  const settings = options.settings ?? programSettings();
  const clock = settings.clients.clock ?? systemClock;
  const clients = createClients(settings.clients);
  const signal = options.signal ?? new AbortController().signal;
  try {
    return await act(lookUps, { clients, clock, signal, progress: () => {} });
  } catch (thrown) {
    throw inOneLine(thrown);
  } finally {
    await clients.close();
  }
}

/**
 * A template that exists, made by hand or by another stack:
 * ```ts
 * const { id } = await getTemplate({ name: "chat-prod" });
 * new ServerlessEndpoint("chat", { templateId: id });
 * ```
 * Rejects when there is none, or when a name fits several.
 */
export const getTemplate = (
  which: LookUp,
  options: LookUpOptions = {},
): Promise<TemplateRecord & { revision: string }> =>
  look(options, (lookUps, context) => lookUps.getTemplate(which, context));

/** An endpoint that exists, by its id or unique name; `url` is the root of its job API. */
export const getServerlessEndpoint = (
  which: LookUp,
  options: LookUpOptions = {},
): Promise<ServerlessEndpointRecord & { url: string }> =>
  look(options, (lookUps, context) => lookUps.getServerlessEndpoint(which, context));

/** A network volume that exists, by its id or unique name. */
export const getNetworkVolume = (which: LookUp, options: LookUpOptions = {}): Promise<NetworkVolumeRecord> =>
  look(options, (lookUps, context) => lookUps.getNetworkVolume(which, context));

/** A secret that exists, by its id or name; `reference` is what a template's env uses. Its value cannot be read. */
export const getSecret = (which: LookUp, options: LookUpOptions = {}): Promise<SecretRecord & { reference: string }> =>
  look(options, (lookUps, context) => lookUps.getSecret(which, context));

/** Jobs and workers of an endpoint as they are now (interface: Queue health). */
export const getEndpointHealth = (endpointId: string, options: LookUpOptions = {}): Promise<EndpointHealth> =>
  look(options, (lookUps, context) => lookUps.getEndpointHealth(endpointId, context));
