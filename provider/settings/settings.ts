import type { ClientSettings, Dialect, Proxies } from "serverless-compute-api";
// Importing the entire api package would load its clients and zod into every program, most of which make no calls.
import { isLoopback, parseAddress, restVersionIn } from "serverless-compute-api/address";
import { createRedaction, showChoices, showValue } from "serverless-compute-api/redaction";
import { pagesAddress } from "../generated/publication";
import { localKeyHint, type OperationSettings } from "./setting-names";
import { addressesBelow, type SettingName, settingNames, settingTable, targets } from "./setting-table";
import { addressNames, type ConfigLookup, type Environment, labelOf, namesOf, textOf } from "./sources";

export type { ConfigLookup };

/** The settings in the environment that select the service and its dialect. */
export function selectedService(environment: Environment = process.env): { name: SettingName; value: string }[] {
  const names = ["target", "dialect", "url", "baseUrl", "graphqlUrl", "serverlessUrl"] as const;
  return names.flatMap((name) => {
    const value = environment[settingTable[name].variable];
    return value ? [{ name, value }] : [];
  });
}

/** Validated settings of the clients and the operations. */
export interface Settings {
  clients: ClientSettings;
  lifecycle: OperationSettings;
}

/** Invalid setting, with a message that contains its name, its value and the allowed values. */
interface SettingError {
  name: SettingName;
  reason: string;
}

/** Returns the invalid settings. A missing API key is not reported, because previews do not require it. */
export function settingErrors(config: ConfigLookup, environment: Environment = process.env): SettingError[] {
  const apiKey = textOf("apiKey", config, environment) ?? "";
  const errors = settingNames.flatMap((name): SettingError[] => {
    const text = textOf(name, config, environment);
    const reason =
      text === undefined ? undefined : invalidReason(labelOf(name, config, environment), name, text, apiKey);
    return reason === undefined ? [] : [{ name, reason }];
  });
  return errors.length > 0 ? errors : conflictErrors(config, environment);
}

/** Returns conflicts between settings that are valid on their own. */
function conflictErrors(config: ConfigLookup, environment: Environment): SettingError[] {
  const settingValue = (name: SettingName): string | undefined => textOf(name, config, environment);
  const label = (name: SettingName): string => labelOf(name, config, environment);
  const errors: SettingError[] = [];
  if (settingValue("target") === "hosted") {
    for (const name of (["url", ...addressNames] as const).filter((address) => settingValue(address) !== undefined)) {
      const reason = `${label(name)} cannot be combined with ${label("target")} "hosted", which has its own addresses; remove one of them`;
      errors.push({ name, reason });
    }
  }
  const [dialect, version] = [settingValue("dialect"), restVersionIn(settingValue("baseUrl"))];
  if (dialect !== undefined && version !== undefined && dialect !== version) {
    const reason = `${label("dialect")} is "${dialect}", but ${label("baseUrl")} ends in /${version}; set both to the same version, or remove the dialect`;
    errors.push({ name: "dialect", reason });
  }
  return errors;
}

/** Returns the service's addresses and dialect; requires valid settings. */
function addressesOf(config: ConfigLookup, environment: Environment) {
  const settingValue = (name: SettingName): string | undefined => textOf(name, config, environment);
  const target = settingValue("target") === "hosted" ? targets.hosted : targets.local;
  const url = settingValue("url")?.replace(/\/+$/, "");
  const defaults = url === undefined ? target : addressesBelow(url);
  const dialectText = settingValue("dialect");
  // The default is v2, because REST v1 was scheduled to end on 15 November 2026.
  const dialect: Dialect =
    dialectText === "v1" || dialectText === "v2" ? dialectText : (restVersionIn(settingValue("baseUrl")) ?? "v2");
  return {
    dialect,
    baseUrl: settingValue("baseUrl") ?? defaults.baseUrl[dialect],
    graphqlUrl: settingValue("graphqlUrl") ?? defaults.graphqlUrl,
    serverlessUrl: settingValue("serverlessUrl") ?? defaults.serverlessUrl,
  };
}

/** Settings that determine the address of the service. */
export const serviceSettings = ["target", "url", "baseUrl"] as const satisfies readonly SettingName[];

const hostedHosts: readonly string[] = Object.values(targets.hosted.baseUrl).map((url) => new URL(url).hostname);

/** Returns true if the settings contain an address of the hosted service. */
export function isHostedService(config: ConfigLookup, environment: Environment = process.env): boolean {
  const { baseUrl } = addressesOf(config, environment);
  return URL.canParse(baseUrl) && hostedHosts.includes(new URL(baseUrl).hostname);
}

/** Returns the warnings before the first objects are created in the hosted service; none for other services. */
export function hostedWarnings(config: ConfigLookup, environment: Environment = process.env): string[] {
  if (!isHostedService(config, environment)) return [];
  return [
    `${namesOf(config, environment).addresses}: the provider has not been tested with the hosted service; follow the checklist ` +
      `in ${pagesAddress ?? "docs"}/hosted-service.md#checklist`,
  ];
}

/** Throws the error of the first invalid setting. */
function requireValid(config: ConfigLookup, environment: Environment): void {
  const [invalidSetting] = settingErrors(config, environment);
  if (invalidSetting) throw new Error(invalidSetting.reason);
}

/** Returns the configured dialect; requires no API key. Throws if any setting is invalid, so that previews report it. */
export function resolveDialect(config: ConfigLookup, environment: Environment = process.env): Dialect {
  requireValid(config, environment);
  return addressesOf(config, environment).dialect;
}

/** Handling of the problems that the preflight finds. */
export type PreflightMode = "off" | "warn" | "error";

/** Returns the preflight mode; requires no API key. Throws if the setting is invalid. */
export function resolvePreflight(config: ConfigLookup, environment: Environment = process.env): PreflightMode {
  const text = textOf("preflight", config, environment) ?? "off";
  const reason = invalidReason(labelOf("preflight", config, environment), "preflight", text, "");
  if (reason !== undefined) throw new Error(reason);
  return text === "warn" || text === "error" ? text : "off";
}

/** Returns the error in a setting's text, which begins with `subject`; undefined if the text is valid. */
function invalidReason(subject: string, name: SettingName, text: string, apiKey: string): string | undefined {
  const { type, secret, choices } = settingTable[name];
  const value = Number(text);
  // The text may be an API key that was assigned to the wrong setting.
  const describeInvalid = (rule: string): string =>
    `${subject} is ${showValue(text, createRedaction([apiKey]))}; must be ${rule}`;
  if (type === "number")
    return Number.isFinite(value) && value > 0 ? undefined : describeInvalid("a number of seconds above 0");
  if (type === "integer")
    return Number.isSafeInteger(value) && value >= 1 ? undefined : describeInvalid("a whole number, 1 or more");
  if (secret) return undefined;
  if (choices) return choices.includes(text) ? undefined : describeInvalid(showChoices(choices));
  if (name === "url" && restVersionIn(text) !== undefined)
    return describeInvalid(`the service's root, without /${restVersionIn(text)}`);
  try {
    parseAddress(subject, text, apiKey);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Returns the host address of the job API in the clients' form; undefined if it is invalid. Requires no API key, because programs
 * derive an endpoint's URL from it.
 */
export function resolveServerlessUrl(config: ConfigLookup, environment: Environment = process.env): string | undefined {
  const text = addressesOf(config, environment).serverlessUrl;
  return invalidReason("serverlessUrl", "serverlessUrl", text, "") === undefined
    ? parseAddress("serverlessUrl", text, "")
    : undefined;
}

/** Returns the proxies in the environment, which the clients parse; lower-case variables take precedence. Undefined if none is set. */
function proxiesOf(environment: Environment): Proxies | undefined {
  const text = (name: string): string | undefined =>
    environment[name.toLowerCase()]?.trim() || environment[name]?.trim() || undefined;
  const [http, https] = [text("HTTP_PROXY"), text("HTTPS_PROXY")];
  return http === undefined && https === undefined ? undefined : { http, https, noProxy: text("NO_PROXY") };
}

/**
 * Returns the service's addresses and call settings. The stack's config takes precedence over the environment, and both over the
 * target's defaults. Commands without a stack pass no config. `hasSecrets` is false for a config with masked secrets. Throws if the
 * API key is missing or a value is invalid.
 */
export function resolveSettings(
  stackConfig?: ConfigLookup,
  environment: Environment = process.env,
  hasSecrets = stackConfig !== undefined,
): Settings {
  const config: ConfigLookup = stackConfig ?? (() => undefined);
  const text = (name: SettingName): string =>
    textOf(name, config, environment) ?? String(settingTable[name].defaultValue);
  const addresses = addressesOf(config, environment);
  const names = namesOf(stackConfig, environment);
  const apiKey = textOf("apiKey", config, environment);
  if (apiKey === undefined) {
    const sources = hasSecrets ? names.apiKey : settingTable.apiKey.variable;
    throw new Error(`the API key of ${addresses.baseUrl} is missing: set ${sources}${localKeyHint(addresses.baseUrl)}`);
  }
  requireValid(config, environment);
  const proxies = proxiesOf(environment);
  return {
    clients: {
      ...(proxies ? { proxies } : {}),
      apiKey,
      ...addresses,
      callTimeout: Number(text("callLimit")) * 1000,
      maxInFlight: Number(text("maxInFlight")),
    },
    lifecycle: { templateReleaseLimit: Number(text("templateReleaseLimit")) * 1000, names },
  };
}

/**
 * Returns a warning for each setting whose address receives the API key unencrypted over a network. An address derived from `url`
 * is reported as `url`. Requires neither an API key nor valid settings.
 */
export function keyExposures(config: ConfigLookup = () => undefined, environment: Environment = process.env): string[] {
  const addresses = addressesOf(config, environment);
  const exposedNames = addressNames.filter((name) => /^http:/i.test(addresses[name]) && URL.canParse(addresses[name]));
  const warnings = exposedNames
    .filter((name) => !isLoopback(addresses[name]))
    .map((name) => {
      const source = textOf(name, config, environment) === undefined ? "url" : name;
      return `${labelOf(source, config, environment)}: the API key is sent to ${new URL(addresses[name]).origin} unencrypted; use https://`;
    });
  return [...new Set(warnings)];
}

/**
 * Returns a warning if the API key is plain text in the config of the program's stack. The engine copies the config, unencrypted, to
 * the default provider of dynamic resources in the state.
 */
export function plainKeyWarning(config: ConfigLookup, environment: Environment = process.env): string | undefined {
  const key = "serverless-compute:apiKey";
  // The language host's JSON list of secret keys; inline programs of the Automation API have none.
  const secretKeys = environment["PULUMI_CONFIG_SECRET_KEYS"];
  if (config(key) === undefined || secretKeys === undefined || secretKeys.includes(`"${key}"`)) return undefined;
  return `${key}: is plain text in the stack's config, and therefore in its state; run "pulumi config set --secret ${key}" and "pulumi up", and replace the key if others can read the state`;
}
