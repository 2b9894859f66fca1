import type { z } from "zod";
import { pascalCase } from "../../../provider/cli/project/text-layout";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A property of Pulumi's package schema. */
export interface PropertySpec {
  type?: string;
  $ref?: string;
  description?: string;
  items?: PropertySpec;
  additionalProperties?: PropertySpec;
  default?: string | number | boolean;
  /** Environment variables that a generated SDK reads if no value is set. */
  defaultInfo?: { environment: string[] };
  secret?: boolean;
  willReplaceOnChanges?: boolean;
}

/** Named object types by token. */
export type TypeSpecs = Record<
  string,
  { type: "object"; description?: string; properties: Record<string, PropertySpec>; required: string[] }
>;

const safeBounds = new Set([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

/** The bounds of a number as a sentence; undefined without bounds. */
export function boundsOf(schema: JsonSchema): string | undefined {
  const low = schema.minimum !== undefined && !safeBounds.has(schema.minimum) ? schema.minimum : undefined;
  const high = schema.maximum !== undefined && !safeBounds.has(schema.maximum) ? schema.maximum : undefined;
  if (low !== undefined && high !== undefined) return `From ${low} to ${high}.`;
  if (low !== undefined) return `At least ${low}.`;
  return high === undefined ? undefined : `At most ${high}.`;
}

/** Bounds, choices and default as sentences, because Pulumi's schema has no fields for them. */
function rules(schema: JsonSchema): string[] {
  const sentences: string[] = [];
  if (schema.enum) sentences.push(`One of ${schema.enum.map((choice) => `\`${String(choice)}\``).join(", ")}.`);
  const bounds = boundsOf(schema);
  if (bounds !== undefined) sentences.push(bounds);
  if (schema.default !== undefined && typeof schema.default !== "object" && schema.default !== "")
    sentences.push(`Defaults to \`${String(schema.default)}\`.`);
  return sentences;
}

const isSchema = (schema: unknown): schema is JsonSchema => typeof schema === "object" && schema !== null;

/** Converts zod's JSON schema to Pulumi's schema; nested objects become named types in `types`. */
export function propertySpec(schema: unknown, prefix: string, name: string, types: TypeSpecs): PropertySpec {
  if (!isSchema(schema)) return typeSpec(schema, prefix, name, types);
  const description = [schema.description, ...rules(schema)].filter(Boolean).join(" ");
  return { ...typeSpec(schema, prefix, name, types), ...(description ? { description } : {}) };
}

/** A type without a description, for elements of lists and maps. */
function typeSpec(schema: unknown, prefix: string, name: string, types: TypeSpecs): PropertySpec {
  if (!isSchema(schema)) return { $ref: "pulumi.json#/Any" };
  if (schema.anyOf) return typeSpec(schema.anyOf.find(isSchema) ?? {}, prefix, name, types);
  if (schema.type === "array") return { type: "array", items: typeSpec(schema.items, prefix, name, types) };
  if (schema.type === "object" && schema.properties) {
    const token = `${prefix}${pascalCase(name)}`;
    types[token] = {
      type: "object",
      ...(schema.description ? { description: schema.description } : {}),
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([key, value]) => [key, propertySpec(value, token, key, types)]),
      ),
      required: schema.required ?? [],
    };
    return { $ref: `#/types/${token}` };
  }
  if (schema.type === "object")
    return { type: "object", additionalProperties: typeSpec(schema.additionalProperties, prefix, name, types) };
  if (schema.type === "string" || schema.type === "boolean" || schema.type === "integer" || schema.type === "number")
    return { type: schema.type };
  return { $ref: "pulumi.json#/Any" };
}
