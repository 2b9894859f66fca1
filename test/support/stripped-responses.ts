import { type Contract, resolvedSchema, responseSchema, type Schema, schemaIn, schemasIn } from "./contract";

/**
 * Removes the fields of a JSON response that its contract does not describe: REST v2, and REST v1 as far as it is described
 * (test/contract). Objects without described fields, such as the workers of REST v1, and responses of other APIs are
 * unchanged. `path` may be a whole address.
 */
export function stripResponse(method: string, path: string, status: number, body: string): string {
  const described = responseSchema(method, path, status);
  if (!described || body === "") return body;
  const value: unknown = JSON.parse(body);
  return JSON.stringify(stripValue(value, described.schema, described.contract));
}

function stripValue(value: unknown, schema: Schema, contract: Contract): unknown {
  const schemas = alternativesOf(schema, contract);
  const subschema = (key: string): Schema | undefined => schemas.map((schema) => schemaIn(schema, key)).find(Boolean);
  if (Array.isArray(value)) {
    const items = subschema("items");
    return items ? value.map((element) => stripValue(element, items, contract)) : value;
  }
  const additional = subschema("additionalProperties");
  if (!(value instanceof Object) || (!subschema("properties") && !additional)) return value;
  const members = Object.entries(value).flatMap(([key, member]) => {
    const schema = schemas.map((schema) => schemaIn(schema["properties"], key)).find(Boolean) ?? additional;
    return schema ? [[key, stripValue(member, schema, contract)] as const] : [];
  });
  return Object.fromEntries(members);
}

/** A schema and the members of its oneOf, anyOf and allOf, with references followed. */
function alternativesOf(given: Schema, contract: Contract): Schema[] {
  const schema = resolvedSchema(given, contract);
  const members = ["oneOf", "anyOf", "allOf"].flatMap((key) => schemasIn(schema[key]));
  return [schema, ...members.flatMap((member) => alternativesOf(member, contract))];
}
