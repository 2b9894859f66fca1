import type { ClientSettings, Dialect, Proxies } from "serverless-compute-api";
// The whole of the api package would load the clients into every program, which makes no call, and its shapes zod.
import { isLoopback, parseAddress, parseProxy, restVersionIn } from "serverless-compute-api/address";
import { createRedaction, showValue } from "serverless-compute-api/redaction";
import type { LifecycleSettings } from "../lifecycle/contract";
import { keySources, localKeyHint } from "../lifecycle/key-sources";
import {
  addressesBelow,
  type SettingName,
  settingNames,
  settingTable,
  type TargetName,
  targets,
} from "./setting-table";

/** Looks up one configuration key, namespace included: `serverless-compute:apiKey`. */
export type ConfigLookup = (key: string) => string | undefined;

export interface Settings {
  clients: ClientSettings;
  lifecycle: LifecycleSettings;
}

type Environment = Record<string, string | undefined>;

const addressNames = ["baseUrl", "graphqlUrl", "serverlessUrl"] as const;
const isAddress = (name: SettingName): boolean => addressNames.some((one) => one === name);

/**
 * A setting's text: from the stack's config, else the environment; undefined if neither has one. If the stack's config names a
 * service by `url`, addresses in the environment belong to another service and are ignored.
 */
function textOf(name: SettingName, config: ConfigLookup, environment: Environment): string | undefined {
  const configured = (key: SettingName): string | undefined => config(`serverless-compute:${key}`)?.trim() || undefined;
  const own = configured(name);
  if (own !== undefined || (isAddress(name) && configured("url") !== undefined)) return own;
  return environment[settingTable[name].variable]?.trim() || undefined;
}

/** A setting whose value is not usable, and a sentence that names it, the value and what is allowed. */
interface SettingMistake {
  name: SettingName;
  reason: string;
}

/** Returns the invalid settings. A missing key is not a mistake, because previews require none. */
export function settingMistakes(config: ConfigLookup, environment: Environment = process.env): SettingMistake[] {
  const apiKey = textOf("apiKey", config, environment) ?? "";
  const each = settingNames.flatMap((name): SettingMistake[] => {
    const text = textOf(name, config, environment);
    const reason = text === undefined ? undefined : judge(name, text, apiKey);
    return reason === undefined ? [] : [{ name, reason }];
  });
  return each.length > 0 ? each : combinationMistakes(config, environment);
}

const subjectOf = (name: SettingName): string => `serverless-compute:${name} (or ${settingTable[name].variable})`;

/** Settings that do not go together, each of which is usable. */
function combinationMistakes(config: ConfigLookup, environment: Environment): SettingMistake[] {
  const given = (name: SettingName): string | undefined => textOf(name, config, environment);
  const mistakes: SettingMistake[] = [];
  if (given("target") === "hosted") {
    for (const name of (["url", ...addressNames] as const).filter((one) => given(one) !== undefined)) {
      const reason = `${subjectOf(name)} must not be set while serverless-compute:target is "hosted", which has its own addresses; remove one of them`;
      mistakes.push({ name, reason });
    }
  }
  const [dialect, version] = [given("dialect"), restVersionIn(given("baseUrl"))];
  if (dialect !== undefined && version !== undefined && dialect !== version) {
    const reason = `${subjectOf("dialect")} is "${dialect}", but serverless-compute:baseUrl ends in /${version}; set both to the same version, or remove the dialect`;
    mistakes.push({ name: "dialect", reason });
  }
  return mistakes;
}

/** Returns the service's addresses from valid settings. */
function placeOf(config: ConfigLookup, environment: Environment) {
  const given = (name: SettingName): string | undefined => textOf(name, config, environment);
  const name: TargetName = given("target") === "hosted" ? "hosted" : "local";
  const target = targets[name];
  const url = given("url")?.replace(/\/+$/, "");
  const addresses = url === undefined ? target : addressesBelow(url);
  const chosen = given("dialect");
  const dialect: Dialect =
    chosen === "v1" || chosen === "v2" ? chosen : (restVersionIn(given("baseUrl")) ?? target.dialect);
  return {
    dialect,
    baseUrl: given("baseUrl") ?? addresses.baseUrl[dialect],
    graphqlUrl: given("graphqlUrl") ?? addresses.graphqlUrl,
    serverlessUrl: given("serverlessUrl") ?? addresses.serverlessUrl,
  };
}

const placeSettings: readonly SettingName[] = ["target", "dialect", "url", "baseUrl"];

/** Settings that identify a service for {@link resolveService}. */
export const serviceSettings = ["target", "url", "baseUrl"] as const satisfies readonly SettingName[];

const hostedHosts: readonly string[] = Object.values(targets.hosted.baseUrl).map((url) => new URL(url).hostname);

/**
 * Name of the service that the settings lead to: `local` for every loopback address, `hosted` for the hosted service's own hosts,
 * else the host of `baseUrl`. Ports, paths, and REST versions do not count. Undefined if the address is not usable.
 */
export function resolveService(config: ConfigLookup, environment: Environment = process.env): string | undefined {
  const { baseUrl } = placeOf(config, environment);
  if (!URL.canParse(baseUrl)) return undefined;
  const { hostname } = new URL(baseUrl);
  if (isLoopback(baseUrl)) return "local";
  return hostedHosts.includes(hostname) ? "hosted" : hostname;
}

/** The dialect that the settings choose; needs no key. Throws a sentence when what they say of it does not do. */
export function resolveDialect(config: ConfigLookup, environment: Environment = process.env): Dialect {
  const mistake = settingMistakes(config, environment).find(({ name }) => placeSettings.includes(name));
  if (mistake) throw new Error(mistake.reason);
  return placeOf(config, environment).dialect;
}

/** Effect of findings of the preflight. */
export type PreflightMode = "off" | "warn" | "error";

/** Returns the mode of the preflight; needs no key. Throws a sentence if the setting is invalid. */
export function resolvePreflight(config: ConfigLookup, environment: Environment = process.env): PreflightMode {
  const text = textOf("preflight", config, environment) ?? "off";
  const reason = judge("preflight", text, "");
  if (reason !== undefined) throw new Error(reason);
  return text === "warn" || text === "error" ? text : "off";
}

/** Returns the fault in a setting's text; undefined if it is valid. */
function judge(name: SettingName, text: string, apiKey: string): string | undefined {
  const { type, secret, choices } = settingTable[name];
  const subject = subjectOf(name);
  const value = Number(text);
  // A key in the wrong place is a likely mistake.
  const unusable = (rule: string): string =>
    `${subject} is ${showValue(text, createRedaction([apiKey]))}: must be ${rule}`;
  if (type === "number") return Number.isFinite(value) && value > 0 ? undefined : unusable("seconds, more than 0");
  if (type === "integer")
    return Number.isSafeInteger(value) && value >= 1 ? undefined : unusable("a whole number, 1 or more");
  if (secret) return undefined;
  if (choices) return choices.includes(text) ? undefined : unusable(choices.join(" or "));
  if (name === "url" && restVersionIn(text) !== undefined)
    return unusable(`the service's root, without /${restVersionIn(text)}`);
  try {
    parseAddress(subject, text, apiKey);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Host address of the job API in the form that the clients use; undefined if it is invalid. Requires no key: programs derive
 * an endpoint's address from it.
 */
export function resolveServerlessUrl(config: ConfigLookup, environment: Environment = process.env): string | undefined {
  const text = placeOf(config, environment).serverlessUrl;
  return judge("serverlessUrl", text, "") === undefined ? parseAddress("serverlessUrl", text, "") : undefined;
}

/** The proxies that the environment names; in small letters goes first, as with other tools. Undefined where it has none. */
function proxiesOf(environment: Environment): Proxies | undefined {
  const text = (name: string): string | undefined =>
    environment[name.toLowerCase()]?.trim() || environment[name]?.trim() || undefined;
  const proxy = (name: string): string | undefined => {
    const value = text(name);
    return value === undefined ? undefined : parseProxy(name, value);
  };
  const [http, https] = [proxy("HTTP_PROXY"), proxy("HTTPS_PROXY")];
  return http === undefined && https === undefined ? undefined : { http, https, none: text("NO_PROXY") };
}

/**
 * Returns the service's addresses and call settings from the stack's config, else the environment, else the target's defaults.
 * Commands that read no stack pass no config. The only reader of both in this package. Throws if the key is missing or a value
 * is invalid.
 */
export function resolveSettings(given?: ConfigLookup, environment: Environment = process.env): Settings {
  const config: ConfigLookup = given ?? (() => undefined);
  const text = (name: SettingName): string => textOf(name, config, environment) ?? String(settingTable[name].fallback);
  const place = placeOf(config, environment);
  const apiKey = textOf("apiKey", config, environment);
  if (apiKey === undefined) {
    const sources = given ? keySources : settingTable.apiKey.variable;
    throw new Error(`the API key of ${place.baseUrl} is missing: set ${sources}${localKeyHint(place.baseUrl)}`);
  }
  const [mistake] = settingMistakes(config, environment);
  if (mistake) throw new Error(mistake.reason);
  const proxies = proxiesOf(environment);
  return {
    clients: {
      ...(proxies ? { proxies } : {}),
      apiKey,
      ...place,
      deadline: Number(text("callLimit")) * 1000,
      maxInFlight: Number(text("maxInFlight")),
    },
    lifecycle: { templateReleaseLimit: Number(text("templateReleaseLimit")) * 1000 },
  };
}

/**
 * A sentence for each setting that sends the API key unencrypted over a network; addresses derived from `url` count as `url`.
 * Requires neither a key nor valid settings.
 */
export function keyExposures(config: ConfigLookup = () => undefined, environment: Environment = process.env): string[] {
  const place = placeOf(config, environment);
  const exposed = addressNames.filter((name) => /^http:/i.test(place[name]) && URL.canParse(place[name]));
  const sentences = exposed
    .filter((name) => !isLoopback(place[name]))
    .map((name) => {
      const source = textOf(name, config, environment) === undefined ? "url" : name;
      return `${subjectOf(source)}: the API key is sent to ${new URL(place[name]).origin} unencrypted; use https://`;
    });
  return [...new Set(sentences)];
}

/**
 * A sentence if the API key is plain text in the config of the program's stack: the engine copies the config of dynamic resources
 * to the default provider in the state as it is.
 */
export function plainKeyWarning(config: ConfigLookup, environment: Environment = process.env): string | undefined {
  const key = "serverless-compute:apiKey";
  // The language host's JSON list of secret keys; inline programs of the Automation API have none.
  const secretKeys = environment["PULUMI_CONFIG_SECRET_KEYS"];
  if (config(key) === undefined || secretKeys === undefined || secretKeys.includes(`"${key}"`)) return undefined;
  return `${key}: is plain text in the stack's config, and therefore in its state; run "pulumi config set --secret ${key}" and "pulumi up", and replace the key if others can read the state`;
}
