import { clientDefaults, limits } from "serverless-compute-api/limits";
import { suggest } from "serverless-compute-api/spelling";

/** Definition of one setting of the provider: environment variable, type and allowed values. */
export interface SettingRule {
  /** Environment variable that is used if neither the provider's arguments nor the stack's config set a value. */
  variable: string;
  type: "string" | "number" | "integer";
  description: string;
  /** Default value. The API key has none; addresses default to the target's. */
  defaultValue?: string | number;
  /** Allowed values. */
  choices?: readonly string[];
  secret?: true;
}

/** Default address of the local service. */
const localUrl = "http://127.0.0.1:7337";

/** Returns the addresses of a service with all APIs below one root, such as the local service. */
export const addressesBelow = (url: string) => ({
  baseUrl: { v1: `${url}/v1`, v2: `${url}/v2` },
  graphqlUrl: `${url}/graphql`,
  serverlessUrl: url,
});

/** Addresses of each target. */
export const targets = {
  local: addressesBelow(localUrl),
  hosted: {
    baseUrl: { v1: "https://rest.runpod.io/v1", v2: "https://api.runpod.io/v2" },
    graphqlUrl: "https://api.runpod.io/graphql",
    serverlessUrl: "https://api.runpod.ai",
  },
};

/** Time that a template delete waits beyond the documented limit (s). */
const releaseMargin = 30;

const rules = {
  apiKey: {
    variable: "SERVERLESS_COMPUTE_API_KEY",
    type: "string",
    description: "API key of the service.",
    secret: true,
  },
  target: {
    variable: "SERVERLESS_COMPUTE_TARGET",
    type: "string",
    description: "Service: `local`, or `hosted` with its public addresses.",
    defaultValue: "local",
    choices: ["local", "hosted"],
  },
  dialect: {
    variable: "SERVERLESS_COMPUTE_DIALECT",
    type: "string",
    description:
      "Version of the REST API: `v1` or `v2`. Defaults to the version at the end of `baseUrl`, otherwise to `v2`.",
    choices: ["v1", "v2"],
  },
  url: {
    variable: "SERVERLESS_COMPUTE_URL",
    type: "string",
    description:
      "Root of a service at another address, such as a local service on another port. The other three addresses derive from it: " +
      "`<url>/v2`, `<url>/graphql` and `<url>`.",
  },
  baseUrl: {
    variable: "SERVERLESS_COMPUTE_BASE_URL",
    type: "string",
    description: "Root of the REST API, including the version prefix; overrides the target's.",
  },
  graphqlUrl: {
    variable: "SERVERLESS_COMPUTE_GRAPHQL_URL",
    type: "string",
    description: "Address of the GraphQL API; overrides the target's.",
  },
  serverlessUrl: {
    variable: "SERVERLESS_COMPUTE_SERVERLESS_URL",
    type: "string",
    description: "Host address of the job API; overrides the target's.",
  },
  callLimit: {
    variable: "SERVERLESS_COMPUTE_CALL_LIMIT",
    type: "number",
    description: "Time limit in seconds for one call to the service, including its retries; more than 0.",
    defaultValue: clientDefaults.callTimeout / 1000,
  },
  maxInFlight: {
    variable: "SERVERLESS_COMPUTE_MAX_IN_FLIGHT",
    type: "integer",
    description: "Maximum number of concurrent calls to the service; 1 or more.",
    defaultValue: clientDefaults.maxInFlight,
  },
  preflight: {
    variable: "SERVERLESS_COMPUTE_PREFLIGHT",
    type: "string",
    description:
      "Check of endpoints against the stock of GPU types and the quota of workers, also in previews: `off`, `warn` or `error`. " +
      "It makes two API calls for all endpoints together, and one for their network volumes. Defaults to `off`.",
    choices: ["off", "warn", "error"],
  },
  templateReleaseLimit: {
    variable: "SERVERLESS_COMPUTE_TEMPLATE_RELEASE_LIMIT",
    type: "number",
    description:
      "Time limit in seconds for the delete of a template, which waits until the service releases it; more than 0.",
    defaultValue: limits.templateRelease / 1000 + releaseMargin,
  },
} satisfies Record<string, SettingRule>;

/** Name of a setting. */
export type SettingName = keyof typeof rules;

/** Settings by their name in the stack's config and in the arguments of an explicit provider. */
export const settingTable: Readonly<Record<SettingName, SettingRule>> = rules;

/** Returns true if a name is the name of a setting. */
const isSettingName = (name: string): name is SettingName => Object.hasOwn(settingTable, name);

/** Names of all settings. */
export const settingNames: readonly SettingName[] = Object.keys(settingTable).filter(isSettingName);

/** Messages about names that resemble a setting. Other names are ignored, because the engine adds settings such as version. */
export const misspelledSettings = (names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const suggestion = isSettingName(name) ? undefined : suggest(name, [...settingNames]);
    return suggestion ? [`${name}: unknown setting; did you mean "${suggestion}"?`] : [];
  });
