import { configNames, type SettingNames } from "./setting-names";
import { type SettingName, settingNames, settingTable } from "./setting-table";

/** Looks up a configuration key, including its namespace: `serverless-compute:apiKey`. */
export interface ConfigLookup {
  (key: string): string | undefined;
  /** True for the arguments of an explicit provider, which replace the stack's config; messages name the argument. */
  readonly isProvider?: boolean;
}

/** Environment variables. */
export type Environment = Record<string, string | undefined>;

/** Settings with the addresses of the service's APIs. */
export const addressNames = ["baseUrl", "graphqlUrl", "serverlessUrl"] as const;
const isAddress = (name: SettingName): boolean => addressNames.some((address) => address === name);

/** Text of a setting and its source. */
interface SettingValue {
  text: string;
  source: "config" | "environment";
}

/**
 * Value of a setting in the stack's config or, if it is missing there, in the environment. If the stack's config sets `url`,
 * addresses in the environment belong to another service and are ignored.
 */
function settingOf(name: SettingName, config: ConfigLookup, environment: Environment): SettingValue | undefined {
  const configText = (key: SettingName): string | undefined => config(`serverless-compute:${key}`)?.trim() || undefined;
  const text = configText(name);
  if (text !== undefined) return { text, source: "config" };
  if (isAddress(name) && configText("url") !== undefined) return undefined;
  const variableText = environment[settingTable[name].variable]?.trim() || undefined;
  return variableText === undefined ? undefined : { text: variableText, source: "environment" };
}

/** Text of a setting; undefined if it has no value. */
export const textOf = (name: SettingName, config: ConfigLookup, environment: Environment): string | undefined =>
  settingOf(name, config, environment)?.text;

/** Name of a setting in a message: the source of its value, or both sources if it has none. */
export function labelOf(name: SettingName, config: ConfigLookup, environment: Environment): string {
  const source = settingOf(name, config, environment)?.source;
  const { variable } = settingTable[name];
  if (source === "environment") return variable;
  const label = config.isProvider ? `the provider's argument ${name}` : `serverless-compute:${name}`;
  return source === "config" ? label : `${label} (or ${variable})`;
}

/** Settings that determine the addresses of the service. */
const serviceNames = ["target", "url", ...addressNames] as const;

const keyName = (source: SettingValue["source"] | undefined): string =>
  source === "config"
    ? "the config serverless-compute:apiKey"
    : source === "environment"
      ? settingTable.apiKey.variable
      : configNames.apiKey;

/** Names of the settings in messages about failed calls. Without `config`, all values come from the environment. */
export function namesOf(config: ConfigLookup | undefined, environment: Environment): SettingNames {
  const label = (name: SettingName): string =>
    config ? labelOf(name, config, environment) : settingTable[name].variable;
  const lookup: ConfigLookup = config ?? (() => undefined);
  const setAddresses = serviceNames.filter((name) => settingOf(name, lookup, environment));
  return {
    apiKey: config && !config.isProvider ? keyName(settingOf("apiKey", config, environment)?.source) : label("apiKey"),
    addresses: (setAddresses.length > 0 ? setAddresses : (["url"] as const)).map(label).join(" and "),
    baseUrl: label("baseUrl"),
    serverlessUrl: label("serverlessUrl"),
    dialect: label("dialect"),
    templateReleaseLimit: label("templateReleaseLimit"),
    fromEnvironment: settingNames.filter((name) => settingOf(name, lookup, environment)?.source === "environment"),
  };
}
