import { log, runtime } from "@pulumi/pulumi";
import { type ConfigLookup, keyExposures, resolveSettings, type Settings } from "./settings";

/** The config of the stack whose program runs; nothing where none does, as in a script. */
export const programConfig: ConfigLookup = (key) => runtime.getConfig(key);

/** What was warned of already: a program may look up many things. */
const warned = new Set<string>();

/** Where the service is for what a program itself asks; warns once where its key is not safe on the way. */
export function programSettings(): Settings {
  const settings = resolveSettings(programConfig);
  for (const warning of keyExposures(settings.clients).filter((text) => !warned.has(text))) {
    warned.add(warning);
    void log.warn(warning);
  }
  return settings;
}
