import { randomUUID } from "node:crypto";
import { z } from "zod";

const properties = z.record(z.string(), z.unknown());

const resourceShape = z.looseObject({
  urn: z.string(),
  type: z.string(),
  custom: z.boolean().optional(),
  provider: z.string().optional(),
  inputs: properties.optional(),
  outputs: properties.optional(),
  propertyDependencies: properties.nullish(),
});

const exportShape = z.looseObject({
  deployment: z.looseObject({ resources: z.array(resourceShape).nullish() }),
});

const dynamicType = "pulumi-nodejs:dynamic/serverless:";
const pluginType = "serverless-compute:index:";

/** Takes out what only the dynamic door keeps in state. */
function visible<Values extends object>(values: Values): Values {
  const kept: Values = { ...values };
  for (const key of Object.keys(kept).filter((name) => name.startsWith("__"))) Reflect.deleteProperty(kept, key);
  return kept;
}

/**
 * Rewrites what `pulumi stack export` wrote, so that the plugin has the resources that were dynamic ones: the same
 * names, ids, inputs and outputs under the plugin's types. Secrets stay the ciphertext that they are, and nobody asks
 * the service anything. Throws when there is nothing to rewrite.
 */
export function moveState(exported: string): { text: string; moved: number } {
  // A URN says the types of all parents, and others refer to it: all of them change alike.
  const state = exportShape.parse(JSON.parse(exported.replaceAll(dynamicType, pluginType)));
  const resources = state.deployment.resources ?? [];
  const isOurs = ({ type, custom }: z.output<typeof resourceShape>): boolean =>
    custom === true && type.startsWith(pluginType);
  const first = resources.findIndex(
    (one) => isOurs(one) && one.provider?.includes("::pulumi:providers:pulumi-nodejs::"),
  );
  const [stack = "", project = ""] = (resources[first]?.urn ?? "").replace(/^urn:pulumi:/, "").split("::");
  if (first < 0) throw new Error("this stack has no dynamic resources of pulumi-serverless-compute");

  const type = "pulumi:providers:serverless-compute";
  const provider = { urn: `urn:pulumi:${stack}::${project}::${type}::default`, type, custom: true, id: randomUUID() };
  const reference = `${provider.urn}::${provider.id}`;
  const moved = resources.map((one) => {
    if (!isOurs(one)) return one;
    const { inputs, outputs, propertyDependencies } = one;
    return {
      ...one,
      provider: reference,
      ...(inputs ? { inputs: visible(inputs) } : {}),
      ...(outputs ? { outputs: visible(outputs) } : {}),
      ...(propertyDependencies ? { propertyDependencies: visible(propertyDependencies) } : {}),
    };
  });
  moved.splice(first, 0, { ...provider, inputs: {}, outputs: {} });
  const deployment = { ...state.deployment, resources: moved };
  return {
    text: `${JSON.stringify({ ...state, deployment }, null, 4)}\n`,
    moved: resources.filter(isOurs).length,
  };
}
