import { log, RunError, runtime } from "@pulumi/pulumi";
import { misspelledSettings } from "./setting-table";
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

/** Throws if a setting in the stack's config is misspelled, and warns once if the API key is plain text there. */
export function checkProgramConfig(): void {
  const names = Object.keys(runtime.allConfig())
    .filter((key) => key.startsWith("serverless-compute:"))
    .map((key) => key.slice(key.indexOf(":") + 1));
  const [misspelled] = misspelledSettings(names);
  if (misspelled !== undefined) throw new RunError(`serverless-compute:${misspelled}`);
  const warning = plainKeyWarning(programConfig);
  if (warning !== undefined) warnOnce(warning);
}

/** Returns the settings for a program's lookups; warns once if the API key would be sent unencrypted. */
export function programSettings(): Settings {
  const settings = resolveSettings(programConfig);
  keyExposures(programConfig).forEach(warnOnce);
  return settings;
}
