// Generates TypeScript interfaces of the inputs and outputs of every resource from the shapes.
import { z } from "zod";

/**
 * The subset of JSON Schema that the shapes use.
 * @typedef {object} Json
 * @property {string | undefined} [description]
 * @property {string | undefined} [type]
 * @property {unknown[] | undefined} [enum]
 * @property {unknown | undefined} [default]
 * @property {number | undefined} [minimum]
 * @property {number | undefined} [maximum]
 * @property {string[] | undefined} [required]
 * @property {Json[] | undefined} [anyOf]
 * @property {Json | undefined} [items]
 * @property {Json | undefined} [additionalProperties]
 * @property {Record<string, Json> | undefined} [properties]
 */
/** @typedef {Readonly<Record<string, import("../../provider/dist/lifecycle/define.js").ResourceShapes>>} Kinds */
/** @typedef {(shape: z.core.$ZodType) => Traits} TraitsOf */
/** @typedef {import("serverless-compute-api/shapes").Traits} Traits */
/** @typedef {(type: string) => string} Wrap Wrapper of one level of a type: an input, or plain data. */

/** @type {z.ZodType<Json>} */
const jsonShape = z.looseObject({
  description: z.string().optional(),
  type: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  required: z.array(z.string()).optional(),
  anyOf: z.array(z.lazy(() => jsonShape)).optional(),
  items: z.lazy(() => jsonShape).optional(),
  additionalProperties: z
    .preprocess(
      (value) => value || {},
      z.lazy(() => jsonShape),
    )
    .optional(),
  properties: z
    .record(
      z.string(),
      z.lazy(() => jsonShape),
    )
    .optional(),
});

/** @param {string | undefined} text */
const line = (text) => `  /** ${text} */\n`;
/** @param {string} name */
const pascal = (name) => name.charAt(0).toUpperCase() + name.slice(1);

/**
 * The description of a property with bounds, default and replacement.
 * @param {string} name
 * @param {Json} json
 * @param {Traits} traits
 * @param {boolean} isRequired
 */
function sentences(name, json, traits, isRequired) {
  const { minimum, maximum } = json;
  const upper = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const bounds =
    minimum !== undefined && upper !== undefined
      ? `From ${minimum} to ${upper}.`
      : minimum !== undefined && `At least ${minimum}.`;
  const fallback = json.default === undefined || json.properties ? "" : `Default \`${JSON.stringify(json.default)}\`.`;
  return [
    json.description,
    bounds,
    name === "name" && !isRequired ? "Default `<resource name>-<stack>-<random suffix>`." : fallback,
    traits.replaces && "A change replaces the resource.",
    traits.secret && "Kept encrypted in state.",
  ]
    .filter(Boolean)
    .join(" ");
}

/**
 * The TypeScript type of a property; `nested` returns the name of an object type.
 * @param {Json} json
 * @param {string} nested
 * @param {Wrap} wrap
 * @returns {string}
 */
function typeOf(json, nested, wrap) {
  if (json.enum) return json.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (json.anyOf) return [...new Set(json.anyOf.map((one) => typeOf(one, nested, wrap)))].join(" | ");
  if (json.type === "integer" || json.type === "number") return "number";
  if (json.type === "string" || json.type === "boolean") return json.type;
  if (json.type === "array") return `${wrap(typeOf(json.items ?? {}, nested, wrap))}[]`;
  if (json.properties) return nested;
  if (json.type === "object") return `Record<string, ${wrap(typeOf(json.additionalProperties ?? {}, nested, wrap))}>`;
  return "unknown";
}

/** @type {Wrap} */
const input = (type) => `pulumi.Input<${type}>`;
/** @type {Wrap} */
const plain = (type) => (type.includes(" | ") ? `(${type})` : type);

/**
 * Interface of inputs, preceded by the interfaces of its nested objects. For an interface that already exists, only an alias is
 * written.
 * @param {string} name
 * @param {string} doc
 * @param {Json} json
 * @param {(key: string) => Traits} traitsFor
 * @param {Map<string, string>} written Names by content.
 * @returns {string}
 */
function argsInterface(name, doc, json, traitsFor, written) {
  const content = JSON.stringify(json.properties);
  const same = written.get(content);
  if (same) return `\n/** ${doc} */\nexport type ${name} = ${same};\n`;
  written.set(content, name);
  const owner = name.replace(/Args$/, "");
  /** @type {string[]} */
  const nested = [];
  const fields = Object.entries(json.properties ?? {}).map(([key, property]) => {
    const nestedName = `${owner}${pascal(key)}Args`;
    if (property.properties) {
      nested.push(argsInterface(nestedName, `The input \`${key}\` of a ${owner}.`, property, () => ({}), written));
    }
    const isRequired = json.required?.includes(key) ?? false;
    const text = sentences(key, property, traitsFor(key), isRequired);
    return `${line(text)}  ${key}${isRequired ? "" : "?"}: ${input(typeOf(property, nestedName, input))};\n`;
  });
  return `${nested.join("")}\n/** ${doc} */\nexport interface ${name} {\n${fields.join("")}}\n`;
}

/**
 * Outputs of a class: the inputs with defaults, and computed values. It is an interface instead of a class, because the SDK finds the
 * user's line as the caller of the third constructor, after those of Resource, CustomResource and the kind.
 * @param {string} kind
 * @param {Json} inputs
 * @param {Json} outputs
 */
function outputsInterface(kind, inputs, outputs) {
  const fields = [inputs, outputs].flatMap((json) =>
    Object.entries(json.properties ?? {}).map(([key, property]) => {
      const isKnown = key === "name" || (json.required?.includes(key) ?? false);
      const type = typeOf(property, `pulumi.Unwrap<${kind}${pascal(key)}Args>`, plain);
      const output = `${type}${isKnown ? "" : " | undefined"}`;
      const short = `  readonly ${key}: pulumi.Output<${output}>;\n`;
      const field = short.length <= 121 ? short : `  readonly ${key}: pulumi.Output<\n    ${output}\n  >;\n`;
      return `${json === outputs ? line(property.description) : ""}${field}`;
    }),
  );
  return `\n/** Outputs of a ${kind}: its inputs with all defaults, and values computed by the service. */\nexport interface ${kind}Outputs {\n${fields.join("")}}\n`;
}

const origin = "// Written by scripts/generate from the inputs.ts of each resource: change those, not this file.\n";

/**
 * @param {z.ZodType} shape
 * @param {"input" | "output"} io
 */
const schema = (shape, io) => jsonShape.parse(z.toJSONSchema(shape, { io, unrepresentable: "any" }));

/**
 * The text of provider/generated/args.ts.
 * @param {Kinds} kinds
 * @param {TraitsOf} traitsOf
 */
export function argsText(kinds, traitsOf) {
  /** @type {Map<string, string>} */
  const written = new Map();
  const interfaces = Object.entries(kinds).map(([kind, { inputs, outputs }]) => {
    /** @param {string} key */
    const traitsFor = (key) => {
      const shape = inputs.shape[key];
      return shape ? traitsOf(shape) : {};
    };
    return (
      argsInterface(`${kind}Args`, `Inputs of a {@link ${kind}}.`, schema(inputs, "input"), traitsFor, written) +
      outputsInterface(kind, schema(inputs, "output"), schema(outputs, "output"))
    );
  });
  return `${origin}import type * as pulumi from "@pulumi/pulumi";\n${interfaces.join("")}`;
}

/**
 * The text of provider/generated/property-names.ts.
 * @param {Kinds} kinds
 */
export function propertyNamesText(kinds) {
  const lists = Object.entries(kinds).map(([kind, { inputs, outputs }]) => {
    const names = [...Object.keys(inputs.shape), ...Object.keys(outputs.shape)].map((key) => JSON.stringify(key));
    const short = `  ${kind}: [${names.join(", ")}],\n`;
    return short.length <= 120 ? short : `  ${kind}: [\n${names.map((name) => `    ${name},\n`).join("")}  ],\n`;
  });
  return `${origin}\n/** All properties of each kind: the outputs that a class requests from the engine. */\nexport const propertyNames = {\n${lists.join("")}} as const;\n`;
}
