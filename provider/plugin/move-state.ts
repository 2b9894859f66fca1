import { randomUUID } from "node:crypto";
import { z } from "zod";

const properties = z.record(z.string(), z.unknown());

const resourceShape = z.looseObject({
  urn: z.string(),
  type: z.string(),
  custom: z.boolean().optional(),
  id: z.string().optional(),
  provider: z.string().optional(),
  inputs: properties.optional(),
  outputs: properties.optional(),
  propertyDependencies: properties.nullish(),
});
type StateResource = z.output<typeof resourceShape>;

const exportShape = z.looseObject({
  deployment: z.looseObject({ resources: z.array(resourceShape).nullish() }),
});

const types = { dynamic: "pulumi-nodejs:dynamic/serverless:", plugin: "serverless-compute:index:" };
const providers = { dynamic: "pulumi:providers:pulumi-nodejs", plugin: "pulumi:providers:serverless-compute" };

/** Takes out what only the dynamic way keeps in state. */
function visible<Values extends object>(values: Values): Values {
  const kept: Values = { ...values };
  for (const key of Object.keys(kept).filter((name) => name.startsWith("__"))) Reflect.deleteProperty(kept, key);
  return kept;
}

/** How resources name their provider. */
const referenceTo = ({ urn, id = "" }: StateResource): string => `${urn}::${id}`;

/** Settings of a dynamic provider, which have the package's name before them, as the plugin's have it. */
const asArguments = (settings: Record<string, unknown> = {}): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) =>
      key.startsWith("serverless-compute:") ? [[key.slice("serverless-compute:".length), value]] : [],
    ),
  );

/** A provider that the engine makes by itself; its name may end with the version of the SDK, as default_3_248_0. */
const isDefault = ({ urn }: StateResource): boolean => /::default(_\d\w*)?$/.test(urn);

/** The plugin's provider that takes the place of a dynamic one; the engine makes a default provider's settings anew. */
function movedProvider(old: StateResource): StateResource {
  const urn = old.urn.replace(providers.dynamic, providers.plugin);
  const moved = { ...old, urn, type: providers.plugin };
  if (!isDefault(old)) return { ...moved, inputs: asArguments(old.inputs), outputs: asArguments(old.outputs) };
  return { ...moved, urn: urn.replace(/::default\w*$/, "::default"), id: randomUUID(), inputs: {}, outputs: {} };
}

/**
 * Rewrites what `pulumi stack export` wrote, so that the plugin has the resources that were dynamic ones: the same
 * names, ids, inputs and outputs under the plugin's types, and each explicit provider as one of the plugin under the
 * same name. Secrets stay the ciphertext that they are, and nobody asks the service anything. Throws when there is
 * nothing to rewrite.
 */
export function moveState(exported: string): { text: string; moved: number } {
  // A URN says the types of all parents, and others refer to it: all of them change alike.
  const state = exportShape.parse(JSON.parse(exported.replaceAll(types.dynamic, types.plugin)));
  const resources = state.deployment.resources ?? [];
  const isOurs = ({ type, custom }: StateResource): boolean => custom === true && type.startsWith(types.plugin);

  /** The new providers by the references to the old ones. */
  const replacements = new Map<string, StateResource>();
  for (const one of resources.filter(({ type }) => type === providers.dynamic)) {
    const users = resources.filter(({ provider }) => provider === referenceTo(one));
    if (!users.some(isOurs)) continue;
    const known = isDefault(one) ? [...replacements.values()].find(isDefault) : undefined;
    replacements.set(referenceTo(one), known ?? movedProvider(one));
  }
  if (replacements.size === 0) throw new Error("this stack has no dynamic resources of pulumi-serverless-compute");

  const moved = resources.flatMap((one): StateResource[] => {
    const provider = replacements.get(referenceTo(one));
    if (provider) {
      // A default provider that nobody uses goes by itself; an explicit one would have to be deleted.
      const isFirst = [...replacements].find(([, other]) => other === provider)?.[0] === referenceTo(one);
      const isUsed = resources.some((other) => other.provider === referenceTo(one) && !isOurs(other));
      return [...(isUsed || isDefault(one) ? [one] : []), ...(isFirst ? [provider] : [])];
    }
    const own = replacements.get(one.provider ?? "");
    if (!own || !isOurs(one)) return [one];
    const { inputs, outputs, propertyDependencies } = one;
    return [
      {
        ...one,
        provider: referenceTo(own),
        ...(inputs ? { inputs: visible(inputs) } : {}),
        ...(outputs ? { outputs: visible(outputs) } : {}),
        ...(propertyDependencies ? { propertyDependencies: visible(propertyDependencies) } : {}),
      },
    ];
  });
  const deployment = { ...state.deployment, resources: moved };
  return {
    text: `${JSON.stringify({ ...state, deployment }, null, 4)}\n`,
    moved: resources.filter((one) => isOurs(one) && replacements.has(one.provider ?? "")).length,
  };
}
