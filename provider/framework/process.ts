import { type Clients, type Clock, createClients, systemClock } from "serverless-compute-api";
import { type Cancellation, createCancellation } from "../engine/cancellation";
import { createEngineLog, type EngineLog } from "../engine/log";
import type { OperationSettings } from "../settings/setting-names";
import { type ConfigLookup, hostedWarnings, keyExposures, resolveSettings } from "../settings/settings";
import { createConfiguration, createDeployment, type Deployment } from "./deployment";
import { noneFoundWarning } from "./messages";

/** State and services of the provider's process, used by the dynamic provider and the plugin. */
export interface ProviderProcess {
  /**
   * Stores the configuration source without reading it. The dynamic SDK calls this during a deployment, at the first operation of
   * each kind, so the state of the process, including a cancellation, is kept.
   */
  setConfiguration(get: ConfigLookup): void;
  /** Begins a deployment: stores the configuration source and discards the state of an earlier deployment in this process. */
  beginDeployment(get: ConfigLookup): void;
  /** Returns the clients, created at the first call; throws if the configuration is incomplete or invalid. */
  connect(): { clients: Clients; settings: OperationSettings };
  /** Returns the state of the current deployment. */
  deployment(): Deployment;
  clock: Clock;
  log: EngineLog;
  cancellation: Cancellation;
  /** Counts an object of the state as found or missing. A warning at the end of the command reports that all were missing. */
  reportFound(exists: boolean): void;
  /**
   * Logs the warnings due at the check of a resource; `isNew` if the state does not contain it. The first check of a command warns
   * if the API key would be sent unencrypted. The first check of a new resource warns about the hosted service.
   */
  warnBeforeCheck(isNew: boolean): void;
}

/**
 * Creates the state and services of a provider's process; `engineAddress` returns the address that the engine passed to the process.
 * The first operation that requires clients creates them, so a deployment without changes opens no connection.
 */
export function createProviderProcess(engineAddress: () => string | undefined): ProviderProcess {
  const cancellation = createCancellation(async () => {
    const { connection, lookupCounts } = deployment;
    if (connection && lookupCounts.missing > 0 && lookupCounts.found === 0)
      await logMessage(
        "warning",
        "",
        noneFoundWarning(lookupCounts.missing, connection.clients.baseUrl, connection.settings.names),
      );
  });
  let deployment = createDeployment(() => undefined);
  let log: { address: string; engineLog: EngineLog } | undefined;
  const logMessage = async (method: keyof EngineLog, urn: string, text: string): Promise<void> => {
    const address = engineAddress();
    if (address === undefined) return;
    if (log?.address !== address) log = { address, engineLog: createEngineLog(address) };
    await log.engineLog[method](urn, text);
  };
  /** Logs a warning once per deployment; it refers to the stack because it applies to every resource. */
  const warnOnce = (name: "hosted" | "exposure", warnings: (get: ConfigLookup) => readonly string[]): void => {
    if (deployment.warned.has(name)) return;
    deployment.warned.add(name);
    for (const warning of warnings(deployment.configuration.get)) void logMessage("warning", "", warning);
  };
  return {
    setConfiguration: (get) => {
      deployment.configuration = createConfiguration(get);
    },
    beginDeployment: (get) => {
      void deployment.connection?.clients.close();
      deployment = createDeployment(get);
      cancellation.reset();
    },
    connect: () => {
      if (!deployment.connection) {
        const settings = resolveSettings(deployment.configuration.get);
        warnOnce("exposure", keyExposures);
        deployment.connection = { clients: createClients(settings.clients), settings: settings.lifecycle };
      }
      return deployment.connection;
    },
    deployment: () => deployment,
    clock: systemClock,
    log: {
      progress: (urn, text) => void logMessage("progress", urn, text),
      warning: (urn, text) => logMessage("warning", urn, text),
    },
    cancellation,
    reportFound: (exists) => {
      deployment.lookupCounts[exists ? "found" : "missing"]++;
    },
    warnBeforeCheck: (isNew) => {
      warnOnce("exposure", keyExposures);
      if (isNew) warnOnce("hosted", hostedWarnings);
    },
  };
}
