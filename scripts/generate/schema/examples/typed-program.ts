import type { PropertySpec, TypeSpecs } from "../property-spec";
import type { Example, ExampleValue, Reference, Step } from "./example";

/** A value with its type from the schema, for typed languages. */
export type TypedValue =
  | { type: "text"; text: string }
  | { type: "number"; value: number; isInteger: boolean }
  | { type: "flag"; value: boolean }
  | { type: "reference"; step: TypedStep; property: string[] }
  | { type: "configSecret"; key: string }
  | { type: "list"; elementType: "text" | "any"; items: TypedValue[] }
  | { type: "map"; elementType: "text" | "any"; entries: Entry[] }
  | { type: "object"; typeName: string; entries: Entry[] };

/** A property or a key and its value. */
export type Entry = [name: string, value: TypedValue];

export interface TypedStep {
  variable: string;
  member: string;
  isLookup: boolean;
  /** True if a later step or an output uses the statement. */
  isUsed: boolean;
  args: Entry[];
}

/** An example whose names are resolved in the schema. */
export interface TypedProgram {
  steps: TypedStep[];
  /** Secrets of the stack's config that the example reads. */
  configSecrets: string[];
  outputs: [name: string, value: Extract<TypedValue, { type: "reference" }>][];
}

/** Arguments, outputs and nested types of a package's members, from the schema. */
export interface Vocabulary {
  args(member: string): Readonly<Record<string, PropertySpec>>;
  types: TypeSpecs;
}

const isReference = (value: object): value is Reference => "variable" in value;

/** Resolves all names of an example; throws an Error for a name that is missing from the schema. */
export function typedProgram(example: Example, vocabulary: Vocabulary): TypedProgram {
  const steps = new Map<string, TypedStep>();
  const configSecrets: string[] = [];

  const reference = ({ variable, property }: Reference) => {
    const step = steps.get(variable);
    if (!step) throw new Error(`the example "${example.title}" reads ${variable} before there is one`);
    step.isUsed = true;
    return { type: "reference" as const, step, property };
  };

  const toTyped = (value: ExampleValue, spec: PropertySpec): TypedValue => {
    if (typeof value === "string") return { type: "text", text: value };
    if (typeof value === "number")
      return { type: "number", value, isInteger: spec.type ? spec.type === "integer" : Number.isInteger(value) };
    if (typeof value === "boolean") return { type: "flag", value };
    if (Array.isArray(value)) {
      const items = spec.items ?? {};
      return {
        type: "list",
        elementType: items.type ? "text" : "any",
        items: value.map((item) => toTyped(item, items)),
      };
    }
    if (isReference(value)) return reference(value);
    if ("configSecret" in value) {
      configSecrets.push(value.configSecret);
      return { type: "configSecret", key: value.configSecret };
    }
    const token = spec.$ref?.startsWith("#/types/") ? spec.$ref.slice("#/types/".length) : undefined;
    const fields = Object.entries(value.literal);
    if (token !== undefined) {
      const { properties } = vocabulary.types[token] ?? { properties: {} };
      const entries = fields.map(([key, item]): Entry => [key, toTyped(item, requireSpec(properties, key, token))]);
      return { type: "object", typeName: token.slice(token.lastIndexOf(":") + 1), entries };
    }
    const elementSpec = spec.additionalProperties ?? {};
    return {
      type: "map",
      elementType: elementSpec.type ? "text" : "any",
      entries: fields.map(([key, item]) => [key, toTyped(item, elementSpec)]),
    };
  };

  const requireSpec = (specs: Readonly<Record<string, PropertySpec>>, name: string, owner: string): PropertySpec => {
    const spec = specs[name];
    if (!spec) throw new Error(`the example "${example.title}" has ${name}, which ${owner} does not`);
    return spec;
  };

  const toTypedStep = ({ variable, member, args }: Step): TypedStep => {
    const specs = vocabulary.args(member);
    const entries = Object.entries(args).map(
      ([key, item]): Entry => [key, toTyped(item, requireSpec(specs, key, member))],
    );
    return { variable, member, isLookup: member.startsWith("get"), isUsed: false, args: entries };
  };

  for (const step of example.steps) steps.set(step.variable, toTypedStep(step));
  return {
    outputs: Object.entries(example.outputs ?? {}).map(([name, item]) => [name, reference(item)]),
    steps: [...steps.values()],
    configSecrets,
  };
}
