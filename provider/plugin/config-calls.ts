import { createRedaction } from "serverless-compute-api/redaction";
import { showValue } from "serverless-compute-api/shapes";
import { type Properties, Unknown, type Value } from "../lifecycle/contract";
import type { PropertySet } from "../lifecycle/failures";
import { isSecretAt, secretsAmong } from "../lifecycle/properties/secret-paths";
import { closest } from "../lifecycle/properties/spelling";
import type { Host } from "../process/host";
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
} from "../protocol/messages";
import { isSettingName, settingNames, settingTable } from "../settings/setting-table";
import { type ConfigLookup, resolveService, serviceSettings, settingMistakes } from "../settings/settings";

/** A setting as the settings file reads it: numbers come as such from programs in YAML, as texts from all others. */
const settingText = (value: Value | undefined): string | undefined =>
  typeof value === "number" ? String(value) : typeof value === "string" ? value : undefined;

const lookupIn =
  (properties: Properties): ConfigLookup =>
  (key) =>
    settingText(properties[key.slice(key.indexOf(":") + 1)]);

/** Returns the faults in a provider's arguments, before any request uses them. */
function mistakes({ properties, secretPaths }: PropertySet): string[] {
  const misspelt = Object.keys(properties).flatMap((key) => {
    // The engine adds settings of its own, such as version and pluginDownloadURL.
    const meant = isSettingName(key) ? undefined : closest(key, [...settingNames]);
    return meant ? [`${key}: unknown setting; did you mean "${meant}"?`] : [];
  });
  const ofWrongType = new Map<string, string>();
  for (const name of settingNames) {
    const value = properties[name] ?? undefined;
    const { type, secret } = settingTable[name];
    if (value === undefined || value instanceof Unknown || typeof value === "string") continue;
    if (typeof value === "number" && type !== "string") continue;
    const shown = secret || isSecretAt([name], secretPaths) ? "" : `is ${showValue(value)}; `;
    ofWrongType.set(name, `${name}: ${shown}must be ${type === "string" ? "a string" : "a number"}`);
  }
  const unusable = settingMistakes(lookupIn(properties))
    .filter(({ name }) => !(properties[name] instanceof Unknown) && !ofWrongType.has(name))
    .map(({ reason }) => reason);
  const clean = createRedaction(secretsAmong([properties], secretPaths).values);
  return [...misspelt, ...ofWrongType.values(), ...unusable.map(clean)];
}

/** The calls that concern the provider's own configuration. */
export function configCalls(host: Host) {
  return {
    checkConfig: ({ news }: Request<typeof checkRequest>): Response<typeof checkResponse> => {
      const { properties, secretPaths } = news;
      const key = properties["apiKey"] === undefined ? [] : [["apiKey"]];
      return {
        inputs: { properties, secretPaths: [...secretPaths, ...key] },
        failures: mistakes(news).map((reason) => ({ property: "", reason })),
      };
    },

    /**
     * Another service replaces the provider and its resources. A new key does not, because its account is unknown here. Neither
     * does an address that is unknown in a preview.
     */
    diffConfig: ({ olds, news }: Request<typeof diffRequest>): Response<typeof diffResponse> => {
      const differing = settingNames.filter(
        (name) => settingText(olds.properties[name]) !== settingText(news.properties[name]),
      );
      const isKnown = !serviceSettings.some((name) => news.properties[name] instanceof Unknown);
      const [was, is] = [olds, news].map(({ properties }) => resolveService(lookupIn(properties)));
      const moves = isKnown && was !== undefined && is !== undefined && was !== is;
      return {
        changes: differing.length > 0 ? diffChanges.some : diffChanges.none,
        diffs: differing,
        replaces: moves ? differing.filter((name) => serviceSettings.some((one) => one === name)) : [],
      };
    },

    configure: ({ args }: Request<typeof configureRequest>): Response<typeof configureResponse> => {
      host.beginDeployment(lookupIn(args.properties));
      return { acceptSecrets: true, supportsPreview: true, supportsAutonaming: true };
    },
  };
}
