import fc from "fast-check";
import { resolvedSchema, type Schema, schemaIn, schemasIn } from "../../support/contract";

/** Values for properties whose meaning a schema does not state, such as ids of existing objects, by property name. */
export type KnownValues = Record<string, fc.Arbitrary<unknown>>;

const known = (values: KnownValues, name: string): fc.Arbitrary<unknown> | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Values that match a schema of the contract. Each optional property is omitted with a probability of one half. */
export function valuesOf(input: Schema, values: KnownValues): fc.Arbitrary<unknown> {
  const schema = resolvedSchema(input);
  const choices = schemasIn(schema["oneOf"] ?? schema["anyOf"]);
  if (choices.length > 0) return fc.oneof(...choices.map((choice) => valuesOf(choice, values)));
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...schema["enum"]);
  const types = [schema["type"]].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, values)));
}

function ofType(type: unknown, schema: Schema, values: KnownValues): fc.Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return fc.integer({
        min: Math.ceil(numberOf(schema, "minimum") ?? 0),
        max: Math.min(numberOf(schema, "maximum") ?? 50, 5000),
      });
    case "string":
      return text(schema);
    case "array": {
      const items = schemaIn(schema, "items");
      const one = items ? valuesOf(items, values) : fc.constant("x");
      const bounds = { minLength: numberOf(schema, "minItems") ?? 0, maxLength: numberOf(schema, "maxItems") ?? 3 };
      const key = (item: unknown): string => JSON.stringify(item);
      return fc.uniqueArray(one, { ...bounds, selector: key });
    }
    case "object":
      return object(schema, values);
    default:
      throw new Error(`no values for the type ${type}`);
  }
}

function text(schema: Schema): fc.Arbitrary<string> {
  const { pattern, format } = schema;
  const minLength = numberOf(schema, "minLength") ?? 0;
  if (format === "date-time") return fc.constant("2026-11-20T10:00:00Z");
  const any =
    typeof pattern === "string"
      ? fc.stringMatching(new RegExp(pattern), { size: "small" })
      : fc.string({ minLength, maxLength: minLength + 20 });
  return any.filter((value) => value.length >= minLength && value.length <= (numberOf(schema, "maxLength") ?? 1000));
}

function object(schema: Schema, values: KnownValues): fc.Arbitrary<unknown> {
  const properties = schemaIn(schema, "properties");
  if (!properties) {
    const rest = schemaIn(schema, "additionalProperties");
    const value = rest ? valuesOf(rest, values) : fc.constant("x");
    return fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), value, { maxKeys: 3 });
  }
  const members = Object.keys(properties).map((name) => {
    const member = schemaIn(properties, name) ?? {};
    return [name, known(values, name) ?? valuesOf(member, values)] as const;
  });
  return fc.record(Object.fromEntries(members), { requiredKeys: requiredOf(schema), noNullPrototype: true });
}

/** A value with one fault, and the path of the fault. */
interface Faulty {
  at: string;
  value: unknown;
}

/** Every violation of a schema at a single place of a valid value. */
export function faultsOf(input: Schema, value: unknown, at = "$"): Faulty[] {
  const schema = branchOf(input, value);
  const here = ownFaults(schema, value).map((wrong) => ({ at: `${at} = ${shortened(wrong)}`, value: wrong }));
  if (Array.isArray(value)) {
    const items = schemaIn(schema, "items");
    const inner = items && value.length > 0 ? faultsOf(items, value[0], `${at}[0]`) : [];
    return [...here, ...inner.map((fault) => ({ ...fault, value: [fault.value, ...value.slice(1)] }))];
  }
  if (typeof value !== "object" || value === null) return here;
  const properties = schemaIn(schema, "properties") ?? {};
  const rest = schemaIn(schema, "additionalProperties");
  const inner = Object.entries(value).flatMap(([name, member]) => {
    const ofMember = schemaIn(properties, name) ?? rest;
    const faults = ofMember ? faultsOf(ofMember, member, `${at}.${name}`) : [];
    return faults.map((fault) => ({ ...fault, value: { ...value, [name]: fault.value } }));
  });
  const missing = requiredOf(schema).map((name) => ({
    at: `${at}.${name} left out`,
    value: Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)),
  }));
  const unknown =
    schema["additionalProperties"] === false ? [{ at: `${at}.bogus`, value: { ...value, bogus: 1 } }] : [];
  return [...here, ...inner, ...missing, ...unknown];
}

const shortened = (value: unknown): string => JSON.stringify(value).slice(0, 40);

/** The maximum length of a generated text. */
const longestText = 20_000;

/** Values of a wrong type or out of range. */
function ownFaults(schema: Schema, value: unknown): unknown[] {
  const types = [schema["type"]].flat();
  const wrongTypes = [17, "text", true, [], {}, null].filter((other) => !types.some((type) => isOfType(type, other)));
  const [minimum, maximum] = [numberOf(schema, "minimum"), numberOf(schema, "maximum")];
  const [minLength, maxLength] = [numberOf(schema, "minLength"), numberOf(schema, "maxLength")];
  const outOfRange = [
    ...(types.includes("integer") ? [1.5] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minLength === undefined || minLength === 0 ? [] : [""]),
    ...(maxLength === undefined || maxLength > longestText ? [] : ["x".repeat(maxLength + 1)]),
    ...(Array.isArray(schema["enum"]) ? ["NO_SUCH"] : []),
    ...(typeof schema["pattern"] === "string" ? mismatches(schema["pattern"]) : []),
    ...(numberOf(schema, "minItems") ? [[]] : []),
    ...(schema["uniqueItems"] === true && Array.isArray(value) && value.length > 0 ? [[value[0], value[0]]] : []),
    ...(numberOf(schema, "minProperties") ? [{}] : []),
  ];
  return [...wrongTypes, ...outOfRange];
}

const mismatches = (pattern: string): string[] =>
  ["", "-", "1 2", "1.2.3", "é"].filter((text) => !new RegExp(pattern).test(text));

function isOfType(type: unknown, value: unknown): boolean {
  if (type === "integer" || type === "number") return typeof value === "number";
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** The branch of a `oneOf` whose keys a value has. */
function branchOf(input: Schema, value: unknown): Schema {
  const schema = resolvedSchema(input);
  const fits = (branch: Schema): boolean =>
    value instanceof Object && requiredOf(resolvedSchema(branch)).every((name) => name in value);
  const found = schemasIn(schema["oneOf"]).find(fits);
  return found ? resolvedSchema(found) : schema;
}

const numberOf = (schema: Schema, key: string): number | undefined => {
  const value = schema[key];
  return typeof value === "number" ? value : undefined;
};

const requiredOf = (schema: Schema): string[] => {
  const names = schema["required"];
  return Array.isArray(names) ? names.map(String) : [];
};
