import type { Clients } from "serverless-compute-api";
import { createProviderProcess, type ProviderProcess } from "../../provider/framework/process";
import { configNames } from "../../provider/settings/setting-names";
import type { SettingName } from "../../provider/settings/setting-table";

/** A provider process without an engine, in a deployment with these settings. */
export function configuredProcess(settings: Partial<Record<SettingName, string>>): ProviderProcess {
  const providerProcess = createProviderProcess(() => undefined);
  const config = new Map(Object.entries(settings).map(([name, text]) => [`serverless-compute:${name}`, text]));
  providerProcess.beginDeployment((key) => config.get(key));
  return providerProcess;
}

/** A provider process without an engine whose operations use these clients. */
export const connectedProcess = (
  clients: Clients,
  settings: Partial<Record<SettingName, string>> = {},
): ProviderProcess => ({
  ...configuredProcess(settings),
  connect: () => ({ clients, settings: { templateReleaseLimit: 1, names: configNames } }),
});
