import { log, runtime } from "@pulumi/pulumi";
import { type ConfigLookup, keyExposures, plainKeyWarning, resolveSettings, type Settings } from "./settings";

/** Config of the running program's stack; empty outside a Pulumi program, for example in a script. */
export const programConfig: ConfigLookup = (key) => runtime.getConfig(key);

/** Warnings that were already logged; a program with many resources and lookups logs each warning once. */
const loggedWarnings = new Set<string>();

function warnOnce(warning: string): void {
  if (loggedWarnings.has(warning)) return;
  loggedWarnings.add(warning);
  void log.warn(warning);
}

/** Warns once if the API key is plain text in the stack's config. */
export function warnAboutPlainKey(): void {
  const warning = plainKeyWarning(programConfig);
  if (warning !== undefined) warnOnce(warning);
}

/** Returns the settings for a program's lookups; warns once if the API key would be sent unencrypted. */
export function programSettings(): Settings {
  const settings = resolveSettings(programConfig);
  keyExposures(programConfig).forEach(warnOnce);
  return settings;
}
