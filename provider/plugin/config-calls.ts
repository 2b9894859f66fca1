import { createRedaction } from "serverless-compute-api/redaction";
import { showValue } from "serverless-compute-api/shapes";
import {
  type checkRequest,
  type checkResponse,
  type configureRequest,
  type configureResponse,
  diffChanges,
  type diffRequest,
  type diffResponse,
  type Request,
  type Response,
} from "../engine/messages";
import { type Properties, type PropertyMap, Unknown, type Value } from "../engine/values";
import type { ProviderProcess } from "../framework/process";
import { isSecretAt, secretsIn } from "../framework/properties/secret-paths";
import { isExplicitProvider } from "../framework/urn";
import { misspelledSettings, settingNames, settingTable } from "../settings/setting-table";
import { type ConfigLookup, isHostedService, serviceSettings, settingErrors } from "../settings/settings";

/** Text of a setting. YAML programs send numbers as numbers; all other programs send them as strings. */
const settingText = (value: Value | undefined): string | undefined =>
  typeof value === "number" ? String(value) : typeof value === "string" ? value : undefined;

/** Looks up the settings of a provider. The engine passes the stack's config to a default provider. */
function configLookupOf(properties: Properties, urn: string): ConfigLookup {
  const lookup = (key: string) => settingText(properties[key.slice(key.indexOf(":") + 1)]);
  return Object.assign(lookup, { isProvider: isExplicitProvider(urn) });
}

/** Returns the validation errors of a provider's arguments. */
function validationErrors({ properties, secretPaths }: PropertyMap, urn: string): string[] {
  const wrongTypes = new Map<string, string>();
  for (const name of settingNames) {
    const value = properties[name] ?? undefined;
    const { type, secret } = settingTable[name];
    if (value === undefined || value instanceof Unknown || typeof value === "string") continue;
    if (typeof value === "number" && type !== "string") continue;
    const valueText = secret || isSecretAt([name], secretPaths) ? "" : `is ${showValue(value)}; `;
    wrongTypes.set(name, `${name}: ${valueText}must be ${type === "string" ? "a string" : "a number"}`);
  }
  const invalid = settingErrors(configLookupOf(properties, urn))
    .filter(({ name }) => !(properties[name] instanceof Unknown) && !wrongTypes.has(name))
    .map(({ reason }) => reason);
  const redact = createRedaction(secretsIn([properties], secretPaths).values);
  return [...misspelledSettings(Object.keys(properties)), ...wrongTypes.values(), ...invalid.map(redact)];
}

/** Handlers of CheckConfig, DiffConfig and Configure. */
export function configCalls(providerProcess: ProviderProcess) {
  return {
    checkConfig: ({ urn, news }: Request<typeof checkRequest>): Response<typeof checkResponse> => {
      const { properties, secretPaths } = news;
      const key = properties["apiKey"] === undefined ? [] : [["apiKey"]];
      return {
        inputs: { properties, secretPaths: [...secretPaths, ...key] },
        failures: validationErrors(news, urn).map((reason) => ({ property: "", reason })),
      };
    },

    /**
     * Replaces the provider and its resources if only the old or only the new settings identify the hosted service. Other addresses and a new
     * API key replace nothing, because they may lead to the same service and account. A setting that is unknown in a preview is a change,
     * but replaces nothing.
     */
    diffConfig: ({ urn, olds, news }: Request<typeof diffRequest>): Response<typeof diffResponse> => {
      const changedNames = settingNames.filter(
        (name) =>
          news.properties[name] instanceof Unknown ||
          settingText(olds.properties[name]) !== settingText(news.properties[name]),
      );
      const isKnown = !serviceSettings.some((name) => news.properties[name] instanceof Unknown);
      const [wasHosted, isHosted] = [olds, news].map(({ properties }) =>
        isHostedService(configLookupOf(properties, urn)),
      );
      const changesService = isKnown && wasHosted !== isHosted;
      return {
        changes: changedNames.length > 0 ? diffChanges.some : diffChanges.none,
        diffs: changedNames,
        replaces: changesService
          ? changedNames.filter((name) => serviceSettings.some((setting) => setting === name))
          : [],
      };
    },

    configure: ({ urn, args }: Request<typeof configureRequest>): Response<typeof configureResponse> => {
      providerProcess.beginDeployment(configLookupOf(args.properties, urn));
      return { acceptSecrets: true, supportsPreview: true, supportsAutonaming: true };
    },
  };
}
