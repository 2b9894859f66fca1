import { createProviderProcess, type ProviderProcess } from "../../provider/framework/process";
import type { SettingName } from "../../provider/settings/setting-table";

/** A provider process without an engine, in a deployment with these settings. */
export function configuredProcess(settings: Partial<Record<SettingName, string>>): ProviderProcess {
  const providerProcess = createProviderProcess(() => undefined);
  const config = new Map(Object.entries(settings).map(([name, text]) => [`serverless-compute:${name}`, text]));
  providerProcess.beginDeployment((key) => config.get(key));
  return providerProcess;
}
