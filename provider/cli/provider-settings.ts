import { z } from "zod";
import { isSecret } from "../engine/engine-properties";
import { isExplicitProvider } from "../framework/urn";
import type { ConfigLookup } from "../settings/settings";
import { secretValue } from "./pulumi-preview/changes";
import type { Preview } from "./pulumi-preview/preview";
import { type ExportedState, referenceTo } from "./state";

const secretShape = z.looseObject({ plaintext: z.string() });

/** A setting's text in state; undefined if it is encrypted there. */
function settingText(value: unknown): string | undefined {
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (!isSecret(value)) return undefined;
  const { data } = secretShape.safeParse(value);
  return data && settingText(JSON.parse(data.plaintext));
}

/**
 * The settings of a provider in state. The engine stores the stack's config on the default provider, under full names for
 * dynamic resources, and under short names for the plugin.
 */
export function settingsIn(state: ExportedState, reference: string): ConfigLookup {
  const provider = state.deployment.resources?.find((resource) => referenceTo(resource) === reference);
  const inputs = provider?.inputs ?? {};
  const lookup = (key: string) => settingText(inputs[key] ?? inputs[key.slice(key.indexOf(":") + 1)]);
  return Object.assign(lookup, { isProvider: provider !== undefined && isExplicitProvider(provider.urn) });
}

/** The settings in the config of a previewed stack; undefined for secrets, which are masked there. */
export const settingsOfPreview =
  ({ config }: Preview): ConfigLookup =>
  (key) =>
    config[key] === secretValue ? undefined : config[key];
