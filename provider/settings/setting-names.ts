import { isLoopback } from "serverless-compute-api/address";

/** Names of settings in messages, which contain the source of each value: stack's config, provider's argument or environment. */
export interface SettingNames {
  apiKey: string;
  /** The settings that determine the addresses of the service. */
  addresses: string;
  baseUrl: string;
  serverlessUrl: string;
  dialect: string;
  templateReleaseLimit: string;
  /** Settings with a value from the environment, which the engine does not keep in the state. */
  fromEnvironment: readonly string[];
}

/** Settings of the operations on resources. */
export interface OperationSettings {
  /** Time that the delete of a template waits for its release after last use, ms. */
  templateReleaseLimit: number;
  /** Names of the settings in messages. */
  names: SettingNames;
}

/** Names of settings without known values. */
export const configNames: SettingNames = {
  apiKey: "the config serverless-compute:apiKey (a secret) or SERVERLESS_COMPUTE_API_KEY",
  addresses: "serverless-compute:url (or :baseUrl, :graphqlUrl, :serverlessUrl)",
  baseUrl: "serverless-compute:baseUrl",
  serverlessUrl: "serverless-compute:serverlessUrl",
  dialect: "serverless-compute:dialect",
  templateReleaseLimit: "serverless-compute:templateReleaseLimit",
  fromEnvironment: [],
};

/** Names of settings that a program passes to a function. */
export const optionNames: SettingNames = {
  apiKey: "settings.clients.apiKey",
  addresses: "settings.clients.baseUrl, graphqlUrl and serverlessUrl",
  baseUrl: "settings.clients.baseUrl",
  serverlessUrl: "settings.clients.serverlessUrl",
  dialect: "settings.clients.dialect",
  templateReleaseLimit: "settings.lifecycle.templateReleaseLimit",
  fromEnvironment: [],
};

/** Advice on getting the local service's key, as the end of a sentence; empty for other services. */
export const localKeyHint = (url: string): string =>
  isLoopback(url) ? '; the local service prints its key with "npx --no serverless-compute-local key"' : "";
