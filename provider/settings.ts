import type { ClientSettings } from "serverless-compute-api";
import { limits } from "serverless-compute-api/shapes";
import type { LifecycleSettings } from "./lifecycle/lifecycle";
import { keySources, localKeyHint } from "./lifecycle/messages";

/** Looks up one configuration key, namespace included: `serverless-compute:apiKey`. */
export type ConfigLookup = (key: string) => string | undefined;

export interface Settings {
  clients: ClientSettings;
  lifecycle: LifecycleSettings;
}

/** Each setting's name in the stack's config and in the environment; the config comes first. */
const names = {
  apiKey: "SERVERLESS_COMPUTE_API_KEY",
  baseUrl: "SERVERLESS_COMPUTE_BASE_URL",
  graphqlUrl: "SERVERLESS_COMPUTE_GRAPHQL_URL",
  serverlessUrl: "SERVERLESS_COMPUTE_SERVERLESS_URL",
  templateReleaseLimit: "SERVERLESS_COMPUTE_TEMPLATE_RELEASE_LIMIT",
  callLimit: "SERVERLESS_COMPUTE_CALL_LIMIT",
  maxInFlight: "SERVERLESS_COMPUTE_MAX_IN_FLIGHT",
} as const;

/** Names of the settings, as in the stack's config and in the arguments of an explicit provider. */
export const settingNames: ReadonlySet<string> = new Set(Object.keys(names));

/** Where the local service listens when it is told no port. */
const local = "http://127.0.0.1:7337";

/** Milliseconds that a template delete waits beyond the documented limit. */
const releaseMargin = 30_000;

/**
 * Where the service is and how to call it: from the stack's config, else the environment, else the local service's
 * default addresses. The only reader of both in this package. Throws a sentence when the key is missing or a value is
 * not usable.
 */
export function resolveSettings(
  config: ConfigLookup = () => undefined,
  environment: Record<string, string | undefined> = process.env,
): Settings {
  const find = (name: keyof typeof names): string | undefined =>
    config(`serverless-compute:${name}`)?.trim() || environment[names[name]]?.trim() || undefined;
  const baseUrl = find("baseUrl") ?? `${local}/v1`;
  const apiKey = find("apiKey");
  if (apiKey === undefined)
    throw new Error(`the API key of ${baseUrl} is missing: set ${keySources}${localKeyHint(baseUrl)}`);
  const number = (name: keyof typeof names, isAllowed: (value: number) => boolean, allowed: string) => {
    const text = find(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (Number.isFinite(value) && isAllowed(value)) return value;
    throw new Error(`serverless-compute:${name} (or ${names[name]}) is "${text}": must be ${allowed}`);
  };
  const seconds = (name: keyof typeof names): number | undefined => {
    const value = number(name, (one) => one > 0, "seconds, more than 0");
    return value === undefined ? undefined : value * 1000;
  };
  const deadline = seconds("callLimit");
  const maxInFlight = number("maxInFlight", (one) => Number.isInteger(one) && one >= 1, "a whole number, 1 or more");
  return {
    clients: {
      apiKey,
      baseUrl,
      graphqlUrl: find("graphqlUrl") ?? `${local}/graphql`,
      serverlessUrl: find("serverlessUrl") ?? local,
      ...(deadline === undefined ? {} : { deadline }),
      ...(maxInFlight === undefined ? {} : { maxInFlight }),
    },
    lifecycle: {
      templateReleaseLimit: seconds("templateReleaseLimit") ?? limits.templateRelease + releaseMargin,
    },
  };
}
