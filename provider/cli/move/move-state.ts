import { randomUUID } from "node:crypto";
import { defaultsKey } from "../../framework/properties/defaults";
import { isExplicitProvider } from "../../framework/urn";
import { parseState, referenceTo, type StateResource, stateText, typePrefixes } from "../state";

const providers = { dynamic: "pulumi:providers:pulumi-nodejs", plugin: "pulumi:providers:serverless-compute" };

/** Removes the internal properties of dynamic resources, but not the list of omitted properties, which the plugin also stores. */
function withoutInternal<Values extends object>(values: Values): Values {
  const result: Values = { ...values };
  for (const key of Object.keys(result))
    if (key.startsWith("__") && key !== defaultsKey) Reflect.deleteProperty(result, key);
  return result;
}

/** The settings of a dynamic provider under the plugin's names, which have no package name before them. */
const toArguments = (settings: Record<string, unknown> = {}): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) =>
      key.startsWith("serverless-compute:") ? [[key.slice("serverless-compute:".length), value]] : [],
    ),
  );

const isDefault = ({ urn }: StateResource): boolean => !isExplicitProvider(urn);

/** The plugin's provider that replaces a dynamic one; the engine sets a default provider's settings again. */
function toPluginProvider(provider: StateResource): StateResource {
  const urn = provider.urn.replace(providers.dynamic, providers.plugin);
  const moved = { ...provider, urn, type: providers.plugin };
  if (!isDefault(provider))
    return { ...moved, inputs: toArguments(provider.inputs), outputs: toArguments(provider.outputs) };
  return { ...moved, urn: urn.replace(/::default_.*$/, "::default"), id: randomUUID(), inputs: {}, outputs: {} };
}

/**
 * Rewrites the output of `pulumi stack export` so that dynamic resources belong to the plugin: the same names, ids, inputs and
 * outputs under the plugin's types, and each explicit provider as one of the plugin under the same name. Secrets stay
 * ciphertext. Makes no API calls. Throws if there is nothing to rewrite.
 */
export function moveState(exported: string): { text: string; moved: number } {
  // A URN contains the types of all parents, and other resources refer to it: all of them change alike.
  const state = parseState(exported.replaceAll(typePrefixes.dynamic, typePrefixes.plugin));
  if (state.deployment.pending_operations?.some(({ type }) => type === "creating"))
    throw new Error(
      "an interrupted deployment left pending creates; run `serverless-compute recover`, then export the state again",
    );
  const resources = state.deployment.resources ?? [];
  const isOurs = ({ type, custom }: StateResource): boolean => custom === true && type.startsWith(typePrefixes.plugin);

  /** The new providers by the references to the old ones. */
  const replacements = new Map<string, StateResource>();
  for (const dynamicProvider of resources.filter(({ type }) => type === providers.dynamic)) {
    const users = resources.filter(({ provider }) => provider === referenceTo(dynamicProvider));
    if (!users.some(isOurs)) continue;
    const existingDefault = isDefault(dynamicProvider) ? [...replacements.values()].find(isDefault) : undefined;
    replacements.set(referenceTo(dynamicProvider), existingDefault ?? toPluginProvider(dynamicProvider));
  }
  if (replacements.size === 0) throw new Error("this stack has no dynamic resources of pulumi-serverless-compute");

  const moved = resources.flatMap((resource): StateResource[] => {
    const provider = replacements.get(referenceTo(resource));
    if (provider) {
      // An unused default provider disappears by itself; an explicit one would have to be deleted.
      const isFirst = [...replacements].find(([, other]) => other === provider)?.[0] === referenceTo(resource);
      const isUsed = resources.some((other) => other.provider === referenceTo(resource) && !isOurs(other));
      return [...(isUsed || isDefault(resource) ? [resource] : []), ...(isFirst ? [provider] : [])];
    }
    const newProvider = replacements.get(resource.provider ?? "");
    if (!newProvider || !isOurs(resource)) return [resource];
    const { inputs, outputs, propertyDependencies } = resource;
    return [
      {
        ...resource,
        provider: referenceTo(newProvider),
        ...(inputs ? { inputs: withoutInternal(inputs) } : {}),
        ...(outputs ? { outputs: withoutInternal(outputs) } : {}),
        ...(propertyDependencies ? { propertyDependencies: withoutInternal(propertyDependencies) } : {}),
      },
    ];
  });
  return {
    text: stateText({ ...state, deployment: { ...state.deployment, resources: moved } }),
    moved: resources.filter((resource) => isOurs(resource) && replacements.has(resource.provider ?? "")).length,
  };
}
