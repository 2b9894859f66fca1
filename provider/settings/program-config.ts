import { log, runtime } from "@pulumi/pulumi";
import { type ConfigLookup, keyExposures, resolveSettings, type Settings } from "./settings";

/** The config of the stack whose program runs; nothing where none does, as in a script. */
export const programConfig: ConfigLookup = (key) => runtime.getConfig(key);

/** Warnings that were already logged, because a program may run many lookups. */
const warned = new Set<string>();

/** Returns the settings for lookups of a program; warns once if the key would be sent unencrypted. */
export function programSettings(): Settings {
  const settings = resolveSettings(programConfig);
  for (const warning of keyExposures(settings.clients).filter((text) => !warned.has(text))) {
    warned.add(warning);
    void log.warn(warning);
  }
  return settings;
}
