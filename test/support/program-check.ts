import { parseDocument } from "yaml";
import { z } from "zod";
import type { PackageSchema } from "../../scripts/generate/schema/package-schema";

/** Checked parts of a Pulumi program in YAML. */
const programShape = z.looseObject({
  config: z.record(z.string(), z.unknown()).optional(),
  variables: z.record(z.string(), z.unknown()).optional(),
  resources: z
    .record(
      z.string(),
      z.strictObject({
        type: z.string(),
        properties: z.record(z.string(), z.unknown()).default({}),
        options: z.record(z.string(), z.unknown()).optional(),
        get: z.unknown().optional(),
      }),
    )
    .optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
});

const invokeShape = z.looseObject({ function: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });
type Properties = Record<string, unknown>;

/** Faults of a resource's properties: unknown and missing properties. */
function propertyFaults(
  subject: string,
  properties: Properties,
  knownProperties: Properties,
  required: readonly string[],
): string[] {
  const unknown = Object.keys(properties).filter((name) => !Object.hasOwn(knownProperties, name));
  const missing = required.filter((name) => !Object.hasOwn(properties, name));
  return [
    ...unknown.map((name) => `${subject} has no property ${name}`),
    ...missing.map((name) => `${subject} lacks ${name}`),
  ];
}

/** Every string in a value, at any depth. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
};

/** The function calls in a value, at any depth. */
const invokesIn = (value: unknown): z.output<typeof invokeShape>[] => {
  if (typeof value !== "object" || value === null) return [];
  const ownInvokes = "fn::invoke" in value ? [invokeShape.parse(value["fn::invoke"])] : [];
  return [...ownInvokes, ...Object.values(value).flatMap(invokesIn)];
};

/** Faults of a YAML program by the package schema: unknown and missing properties, broken references. */
export function programFaults(text: string, schema: PackageSchema): string[] {
  const document = parseDocument(text);
  if (document.errors.length > 0) return document.errors.map(({ message }) => message);
  const parsed = programShape.safeParse(document.toJS());
  if (!parsed.success) return [z.prettifyError(parsed.error)];
  const { config, variables, resources = {}, outputs } = parsed.data;
  const token = (type: string): string => type.replace(/^serverless-compute:(?!index:)/, "serverless-compute:index:");
  const faults = Object.entries(resources).flatMap(([name, { type, properties, get }]) => {
    const subject = `${name} (${type})`;
    if (type === "pulumi:providers:serverless-compute")
      return propertyFaults(subject, properties, schema.provider.inputProperties, []);
    if (!type.startsWith("serverless-compute:")) return [];
    const resource = schema.resources[token(type)];
    if (!resource) return [`${subject} is no type of the schema`];
    return propertyFaults(subject, properties, resource.inputProperties, get ? [] : resource.requiredInputs);
  });
  const calls = invokesIn({ variables, resources, outputs }).flatMap(({ function: name, arguments: properties }) => {
    const definition = schema.functions[token(name)];
    return definition
      ? propertyFaults(name, properties, definition.inputs.properties, definition.inputs.required ?? [])
      : [`${name} is no function of the schema`];
  });
  const names = new Set(["pulumi", ...[config, variables, resources].flatMap((section) => Object.keys(section ?? {}))]);
  const references = textsIn({ variables, resources, outputs }).flatMap((value) =>
    [...value.matchAll(/(?<!\$)\$\{([\w-]+)/g)].map(([, name = ""]) => name),
  );
  // A partial program may refer to earlier parts of the page.
  const isComplete = /^runtime: yaml$/m.test(text) || outputs !== undefined;
  const undefinedReferences = isComplete ? references.filter((name) => !names.has(name)) : [];
  return [...faults, ...calls, ...undefinedReferences.map((name) => `\${${name}} refers to nothing`)];
}
