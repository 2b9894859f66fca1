import { optionsOf, type PropertyOptions } from "serverless-compute-api/shapes";
import { z } from "zod";
import { pascalCase } from "../../../provider/cli/project/text-layout";
import { kinds } from "../../../provider/resources";
import { boundsOf } from "./property-spec";

type Json = z.core.JSONSchema.BaseSchema;

const isSchema = (value: unknown): value is Json => typeof value === "object" && value !== null;
const schemaOf = (value: unknown): Json => (isSchema(value) ? value : {});
const propertiesOf = (json: Json): [string, Json][] =>
  Object.entries(json.properties ?? {}).map(([key, property]) => [key, schemaOf(property)]);

const docComment = (text: string | undefined): string => `  /** ${text} */\n`;

/** The description of a property with bounds, default and replacement. */
function descriptionOf(name: string, json: Json, options: PropertyOptions, isRequired: boolean): string {
  const fallback = json.default === undefined || json.properties ? "" : `Default \`${JSON.stringify(json.default)}\`.`;
  return [
    json.description,
    boundsOf(json),
    name === "name" && !isRequired ? "Default `<resource name>-<stack>-<random suffix>`." : fallback,
    options.replaceOnChanges && "A change replaces the resource.",
    options.secret && "Kept encrypted in state.",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Wraps one level of a type: an input, or plain data. */
type Wrap = (type: string) => string;

/** The TypeScript type of a property; `nested` is the name of an object type. */
function typeOf(json: Json, nested: string, wrap: Wrap): string {
  if (json.enum) return json.enum.map((member) => JSON.stringify(member)).join(" | ");
  if (json.anyOf) return [...new Set(json.anyOf.map((member) => typeOf(schemaOf(member), nested, wrap)))].join(" | ");
  if (json.type === "integer" || json.type === "number") return "number";
  if (json.type === "string" || json.type === "boolean") return json.type;
  if (json.type === "array") return `${wrap(typeOf(schemaOf(json.items), nested, wrap))}[]`;
  if (json.properties) return nested;
  if (json.type === "object")
    return `Record<string, ${wrap(typeOf(schemaOf(json.additionalProperties), nested, wrap))}>`;
  return "unknown";
}

const asInput: Wrap = (type) => `pulumi.Input<${type}>`;
const asPlain: Wrap = (type) => (type.includes(" | ") ? `(${type})` : type);

/**
 * Interface of inputs, preceded by the interfaces of its nested objects. For an interface in `written`, the names by content, only an
 * alias is written.
 */
function argsInterface(
  name: string,
  doc: string,
  json: Json,
  optionsOfKey: (key: string) => PropertyOptions,
  writtenNames: Map<string, string>,
): string {
  const contentKey = JSON.stringify(json.properties);
  const existingName = writtenNames.get(contentKey);
  if (existingName) return `\n/** ${doc} */\nexport type ${name} = ${existingName};\n`;
  writtenNames.set(contentKey, name);
  const owner = name.replace(/Args$/, "");
  const nested: string[] = [];
  const fields = propertiesOf(json).map(([key, property]) => {
    const nestedName = `${owner}${pascalCase(key)}Args`;
    if (property.properties) {
      nested.push(argsInterface(nestedName, `The input \`${key}\` of a ${owner}.`, property, () => ({}), writtenNames));
    }
    const isRequired = json.required?.includes(key) ?? false;
    const text = descriptionOf(key, property, optionsOfKey(key), isRequired);
    return `${docComment(text)}  ${key}${isRequired ? "" : "?"}: ${asInput(typeOf(property, nestedName, asInput))};\n`;
  });
  return `${nested.join("")}\n/** ${doc} */\nexport interface ${name} {\n${fields.join("")}}\n`;
}

/**
 * Outputs of a class: the inputs with defaults, and computed values. It is an interface instead of a class, because the SDK finds the
 * user's line as the caller of the third constructor, after those of Resource, CustomResource and the kind.
 */
function outputsInterface(kind: string, inputs: Json, outputs: Json): string {
  const fields = [inputs, outputs].flatMap((json) =>
    propertiesOf(json).map(([key, property]) => {
      const isAlwaysKnown = key === "name" || (json.required?.includes(key) ?? false);
      const type = typeOf(property, `pulumi.Unwrap<${kind}${pascalCase(key)}Args>`, asPlain);
      const output = `${type}${isAlwaysKnown ? "" : " | undefined"}`;
      const singleLine = `  readonly ${key}: pulumi.Output<${output}>;\n`;
      const field = singleLine.length <= 121 ? singleLine : `  readonly ${key}: pulumi.Output<\n    ${output}\n  >;\n`;
      return `${json === outputs ? docComment(property.description) : ""}${field}`;
    }),
  );
  return `\n/** Outputs of a ${kind}: its inputs with all defaults, and values computed by the service. */\nexport interface ${kind}Outputs {\n${fields.join("")}}\n`;
}

const origin = "// Written by scripts/generate from the inputs.ts of each resource: change those, not this file.\n";

const jsonSchema = (shape: z.ZodType, io: "input" | "output"): Json =>
  z.toJSONSchema(shape, { io, unrepresentable: "any" });

/** The text of provider/generated/args.ts: interfaces of the inputs and outputs of every resource. */
export function argsText(): string {
  const writtenNames = new Map<string, string>();
  const interfaces = Object.entries(kinds).map(([kind, { inputs, outputs }]) => {
    const optionsOfKey = (key: string): PropertyOptions => {
      const shapes: Record<string, z.ZodType> = inputs.shape;
      const shape = shapes[key];
      return shape ? optionsOf(shape) : {};
    };
    return (
      argsInterface(
        `${kind}Args`,
        `Inputs of a {@link ${kind}}.`,
        jsonSchema(inputs, "input"),
        optionsOfKey,
        writtenNames,
      ) + outputsInterface(kind, jsonSchema(inputs, "output"), jsonSchema(outputs, "output"))
    );
  });
  return `${origin}import type * as pulumi from "@pulumi/pulumi";\n${interfaces.join("")}`;
}

/** The text of provider/generated/property-names.ts. */
export function propertyNamesText(): string {
  const lists = Object.entries(kinds).map(([kind, { inputs, outputs }]) => {
    const names = [...Object.keys(inputs.shape), ...Object.keys(outputs.shape)].map((key) => JSON.stringify(key));
    const singleLine = `  ${kind}: [${names.join(", ")}],\n`;
    return singleLine.length <= 120
      ? singleLine
      : `  ${kind}: [\n${names.map((name) => `    ${name},\n`).join("")}  ],\n`;
  });
  return `${origin}\n/** All properties of each kind: the outputs that a class requests from the engine. */\nexport const propertyNames = {\n${lists.join("")}} as const;\n`;
}
