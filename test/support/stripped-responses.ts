import { type Contract, resolvedSchema, responseSchema, type Schema, schemaIn, schemasIn } from "./contract";

/**
 * Removes the fields of a JSON response that its contract does not describe: REST v2, and REST v1 as far as it is described
 * (test/contract). Objects without described fields, such as the workers of REST v1, and responses of other APIs are
 * unchanged. `path` may be a whole address.
 */
export function strippedResponse(method: string, path: string, status: number, body: string): string {
  const described = responseSchema(method, path, status);
  if (!described || body === "") return body;
  const value: unknown = JSON.parse(body);
  return JSON.stringify(stripped(value, described.schema, described.of));
}

function stripped(value: unknown, given: Schema, of: Contract): unknown {
  const schemas = alternativesOf(given, of);
  const within = (key: string): Schema | undefined => schemas.map((one) => schemaIn(one, key)).find(Boolean);
  if (Array.isArray(value)) {
    const items = within("items");
    return items ? value.map((element) => stripped(element, items, of)) : value;
  }
  const others = within("additionalProperties");
  if (!(value instanceof Object) || (!within("properties") && !others)) return value;
  const members = Object.entries(value).flatMap(([key, member]) => {
    const schema = schemas.map((one) => schemaIn(one["properties"], key)).find(Boolean) ?? others;
    return schema ? [[key, stripped(member, schema, of)] as const] : [];
  });
  return Object.fromEntries(members);
}

/** A schema and the members of its oneOf, anyOf and allOf, with references followed. */
function alternativesOf(given: Schema, of: Contract): Schema[] {
  const schema = resolvedSchema(given, of);
  const members = ["oneOf", "anyOf", "allOf"].flatMap((key) => schemasIn(schema[key]));
  return [schema, ...members.flatMap((member) => alternativesOf(member, of))];
}
