import { type Clients, type Clock, createClients, type Dialect, systemClock } from "serverless-compute-api";
import { pagesAddress } from "../generated/publication";
import type { Context, LifecycleSettings, Properties } from "../lifecycle/contract";
import { noneFound } from "../lifecycle/messages";
import {
  type ConfigLookup,
  keyExposures,
  type PreflightMode,
  resolveDialect,
  resolvePreflight,
  resolveServerlessUrl,
  resolveService,
  resolveSettings,
} from "../settings/settings";
import { type Cancellation, createCancellation } from "./cancellation";
import { createEngineLog, type EngineLog } from "./engine-log";

/** The warning before the first objects in the hosted service. */
const untriedService =
  "serverless-compute:target (or SERVERLESS_COMPUTE_TARGET): the provider has not been tested with the hosted service; " +
  `follow the checklist in ${pagesAddress ?? "docs"}/hosted-service.md#checklist`;

/** Facilities of the process for the dynamic provider and the plugin. */
export interface Host {
  /**
   * Stores the source of configuration without reading it yet. The dynamic SDK calls it at the first verb of each kind,
   * during a deployment, so the state of the process, above all a cancellation, is not reset.
   */
  keepConfiguration(get: ConfigLookup): void;
  /** Begins a deployment: keeps where configuration comes from, and forgets an earlier deployment in this process. */
  beginDeployment(get: ConfigLookup): void;
  /** The clients, made at the first call; throws a sentence when the configuration is incomplete or wrong. */
  connect(): { clients: Clients; settings: LifecycleSettings };
  /** The dialect that is configured; needs no key. Throws a sentence where the settings contradict each other. */
  dialect(): Dialect;
  /** The mode of the preflight; needs no key. Throws a sentence if the setting is invalid. */
  preflight(): PreflightMode;
  /** Properties, without secrets, of objects that the present deployment found or made, by id. */
  objects(): Map<string, Properties>;
  /** Ids of objects that the present deployment found in the state or adopted. */
  held(): Context["held"];
  /** Host address of the job API as it is configured; undefined where it is not usable. Needs no key. */
  serverlessUrl(): string | undefined;
  clock: Clock;
  log: EngineLog;
  cancellation: Cancellation;
  /** Counts an object of the state that the service has or does not have; the end of a command that found none warns. */
  sighted(exists: boolean): void;
  /**
   * Reports the check of a resource; `isNew` if the state does not have it. The first check of a command warns if the key would be
   * sent unencrypted, the first one of a new resource about the hosted service.
   */
  checking(isNew: boolean): void;
}

/**
 * The process that the engine starts for a provider; the engine passes it its own address.
 * Clients are made at the first verb that needs them: a deployment that changes nothing opens no connection.
 */
export function createHost(engineAddress: () => string | undefined): Host {
  const cancellation = createCancellation(async () => {
    if (connection && sightings.missing > 0 && sightings.found === 0)
      await show("warning", "", noneFound(sightings.missing, connection.clients.baseUrl));
  });
  let config: ConfigLookup = () => undefined;
  let dialect: Dialect | undefined;
  let preflight: PreflightMode | undefined;
  let objects = new Map<string, Properties>();
  let serverlessUrl: { text: string | undefined } | undefined;
  let connection: { clients: Clients; settings: LifecycleSettings } | undefined;
  let sightings = { found: 0, missing: 0 };
  let [hasAdded, hasExposed] = [false, false];
  let held: Context["held"] = new Map();
  let log: { address: string; show: EngineLog } | undefined;
  const show = async (way: keyof EngineLog, urn: string, text: string): Promise<void> => {
    const address = engineAddress();
    if (address === undefined) return;
    if (log?.address !== address) log = { address, show: createEngineLog(address) };
    await log.show[way](urn, text);
  };
  /** Warns once per command, before the first request; about no resource in particular, so under the stack. */
  const warnOfExposure = (): void => {
    if (!hasExposed) for (const warning of keyExposures(config)) void show("warning", "", warning);
    hasExposed = true;
  };
  return {
    keepConfiguration: (get) => {
      config = get;
      dialect = undefined;
      preflight = undefined;
      serverlessUrl = undefined;
    },
    beginDeployment: (get) => {
      config = get;
      dialect = undefined;
      preflight = undefined;
      objects = new Map();
      serverlessUrl = undefined;
      connection = undefined;
      sightings = { found: 0, missing: 0 };
      [hasAdded, hasExposed] = [false, false];
      held = new Map();
      cancellation.renew();
    },
    connect: () => {
      if (!connection) {
        const settings = resolveSettings(config);
        warnOfExposure();
        connection = { clients: createClients(settings.clients), settings: settings.lifecycle };
      }
      return connection;
    },
    dialect: () => {
      dialect ??= resolveDialect(config);
      return dialect;
    },
    preflight: () => {
      preflight ??= resolvePreflight(config);
      return preflight;
    },
    objects: () => objects,
    held: () => held,
    serverlessUrl: () => {
      serverlessUrl ??= { text: resolveServerlessUrl(config) };
      return serverlessUrl.text;
    },
    clock: systemClock,
    log: {
      progress: (urn, text) => void show("progress", urn, text),
      warning: (urn, text) => show("warning", urn, text),
    },
    cancellation,
    sighted: (exists) => {
      sightings[exists ? "found" : "missing"]++;
    },
    checking: (isNew) => {
      warnOfExposure();
      if (!isNew) return;
      if (!hasAdded && resolveService(config) === "hosted") void show("warning", "", untriedService);
      hasAdded = true;
    },
  };
}
