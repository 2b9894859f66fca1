import { type Clients, type Clock, createClients, type Dialect, systemClock } from "serverless-compute-api";
import type { Context, LifecycleSettings, Properties } from "../lifecycle/contract";
import { noneFoundWarning } from "../lifecycle/messages";
import {
  type ConfigLookup,
  hostedWarning,
  keyExposures,
  type PreflightMode,
  resolveDialect,
  resolvePreflight,
  resolveServerlessUrl,
  resolveSettings,
} from "../settings/settings";
import { type Cancellation, createCancellation } from "./cancellation";
import { createEngineLog, type EngineLog } from "./engine-log";

/** State and services of the provider's process, used by the dynamic provider and the plugin. */
export interface Host {
  /**
   * Stores the configuration source without reading it. The dynamic SDK calls this during a deployment, at the first verb of
   * each kind, so the state of the process, including a cancellation, is kept.
   */
  setConfiguration(get: ConfigLookup): void;
  /** Begins a deployment: stores the configuration source and discards the state of an earlier deployment in this process. */
  beginDeployment(get: ConfigLookup): void;
  /** Returns the clients, created at the first call; throws if the configuration is incomplete or invalid. */
  connect(): { clients: Clients; settings: LifecycleSettings };
  /** Returns the configured dialect; requires no API key. Throws if a setting is invalid. */
  dialect(): Dialect;
  /** Returns the preflight mode; requires no API key. Throws if the setting is invalid. */
  preflight(): PreflightMode;
  /** Non-secret properties of the objects that the current deployment found or created, by id. */
  objects(): Map<string, Properties>;
  /** Ids of the objects that the current deployment found in the state or adopted. */
  claimedIds(): Context["claimedIds"];
  /** Configured host address of the job API; undefined if it is invalid. Requires no API key. */
  serverlessUrl(): string | undefined;
  clock: Clock;
  log: EngineLog;
  cancellation: Cancellation;
  /** Counts an object of the state as found or missing. A warning at the end of the command reports that all were missing. */
  onLookup(exists: boolean): void;
  /**
   * Logs the warnings due at the check of a resource; `isNew` if the state does not contain it. The first check of a command warns
   * if the API key would be sent unencrypted. The first check of a new resource warns about the hosted service.
   */
  warnBeforeCheck(isNew: boolean): void;
}

/**
 * Creates the host of a provider's process; `engineAddress` returns the address that the engine passed to the process.
 * The first verb that requires clients creates them, so a deployment without changes opens no connection.
 */
export function createHost(engineAddress: () => string | undefined): Host {
  const cancellation = createCancellation(async () => {
    if (connection && lookupCounts.missing > 0 && lookupCounts.found === 0)
      await logMessage(
        "warning",
        "",
        noneFoundWarning(lookupCounts.missing, connection.clients.baseUrl, connection.settings.names),
      );
  });
  let config: ConfigLookup = () => undefined;
  let objects = new Map<string, Properties>();
  let connection: { clients: Clients; settings: LifecycleSettings } | undefined;
  let lookupCounts = { found: 0, missing: 0 };
  let [hasWarnedAboutHosted, hasWarnedAboutExposure] = [false, false];
  let claimedIds: Context["claimedIds"] = new Map();
  let log: { address: string; engineLog: EngineLog } | undefined;
  const logMessage = async (method: keyof EngineLog, urn: string, text: string): Promise<void> => {
    const address = engineAddress();
    if (address === undefined) return;
    if (log?.address !== address) log = { address, engineLog: createEngineLog(address) };
    await log.engineLog[method](urn, text);
  };
  /** Warns once per command, before the first request; the warning refers to the stack because it applies to every resource. */
  const warnAboutExposure = (): void => {
    if (!hasWarnedAboutExposure) for (const warning of keyExposures(config)) void logMessage("warning", "", warning);
    hasWarnedAboutExposure = true;
  };
  return {
    setConfiguration: (get) => {
      config = get;
    },
    beginDeployment: (get) => {
      config = get;
      objects = new Map();
      connection = undefined;
      lookupCounts = { found: 0, missing: 0 };
      [hasWarnedAboutHosted, hasWarnedAboutExposure] = [false, false];
      claimedIds = new Map();
      cancellation.reset();
    },
    connect: () => {
      if (!connection) {
        const settings = resolveSettings(config);
        warnAboutExposure();
        connection = { clients: createClients(settings.clients), settings: settings.lifecycle };
      }
      return connection;
    },
    dialect: () => resolveDialect(config),
    preflight: () => resolvePreflight(config),
    objects: () => objects,
    claimedIds: () => claimedIds,
    serverlessUrl: () => resolveServerlessUrl(config),
    clock: systemClock,
    log: {
      progress: (urn, text) => void logMessage("progress", urn, text),
      warning: (urn, text) => logMessage("warning", urn, text),
    },
    cancellation,
    onLookup: (exists) => {
      lookupCounts[exists ? "found" : "missing"]++;
    },
    warnBeforeCheck: (isNew) => {
      warnAboutExposure();
      if (!isNew) return;
      const warning = hasWarnedAboutHosted ? undefined : hostedWarning(config);
      if (warning !== undefined) void logMessage("warning", "", warning);
      hasWarnedAboutHosted = true;
    },
  };
}
