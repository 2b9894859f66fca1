/** @typedef {Record<string, unknown>} Schema */

/** Validation keywords, in the order of an outline. */
const keywords = [
  "type",
  "enum",
  "const",
  "format",
  "pattern",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
];

/** Maximum depth of an outline; deeper levels belong to recursive schemas. */
const deepest = 12;

/**
 * Own properties of an object; empty for any other value.
 * @param {unknown} value
 * @returns {Schema}
 */
export const fields = (value) => (value instanceof Object ? Object.fromEntries(Object.entries(value)) : {});

/**
 * Resolves a reference such as `#/components/schemas/Endpoint` in a document; returns any other value unchanged.
 * @param {unknown} value
 * @param {unknown} document
 * @returns {Schema}
 */
export function resolve(value, document) {
  const reference = fields(value)["$ref"];
  if (typeof reference !== "string") return fields(value);
  /** @type {unknown} */
  let target = document;
  for (const key of reference.replace(/^#\//, "").split("/")) target = fields(target)[key];
  return resolve(target, document);
}

/**
 * A schema as lines: property → its rules in words. Equivalent schemas usually have the same lines, regardless of references and
 * `allOf`.
 * @param {unknown} schema
 * @param {unknown} document Document of its references.
 * @param {string} at
 * @param {Map<string, string>} lines
 */
export function outline(schema, document, at = "", lines = new Map(), presence = "", depth = 0) {
  const mergedSchema = mergeAllOf(schema, document);
  const { nullable, choices } = choicesOf(mergedSchema, document);
  const keywordTexts = keywords.flatMap((keyword) => {
    const value = keyword === "type" ? typeOf(mergedSchema, nullable) : mergedSchema[keyword];
    return value === undefined ? [] : [`${keyword} ${JSON.stringify(value)}`];
  });
  if (mergedSchema["additionalProperties"] === false) keywordTexts.push("no other properties");
  lines.set(at, [presence, ...keywordTexts].filter((word) => word !== "").join(", "));
  if (depth > deepest) return lines;
  const required = mergedSchema["required"];
  for (const [name, member] of Object.entries(fields(mergedSchema["properties"]))) {
    const presence = Array.isArray(required) && required.includes(name) ? "required" : "optional";
    outline(member, document, at === "" ? name : `${at}.${name}`, lines, presence, depth + 1);
  }
  if (mergedSchema["items"]) outline(mergedSchema["items"], document, `${at}[]`, lines, "", depth + 1);
  const additional = mergedSchema["additionalProperties"];
  if (additional instanceof Object) outline(additional, document, `${at}{}`, lines, "", depth + 1);
  choices.forEach((choice, index) => void outline(choice, document, `${at}(${index + 1})`, lines, "", depth + 1));
  return lines;
}

/**
 * A schema without references, with its `allOf` members merged.
 * @param {unknown} schema
 * @param {unknown} document
 * @returns {Schema}
 */
function mergeAllOf(schema, document) {
  const { allOf, ...ownKeywords } = resolve(schema, document);
  if (!Array.isArray(allOf)) return ownKeywords;
  const parts = [ownKeywords, ...allOf.map((part) => mergeAllOf(part, document))];
  const properties = Object.assign({}, ...parts.map((part) => part["properties"]));
  const required = [...new Set(parts.flatMap((part) => part["required"] ?? []))];
  return { ...Object.assign({}, ...parts), properties, required };
}

/**
 * Branches of a schema. A null branch makes it nullable, and a single remaining branch is not a choice.
 * @param {Schema} schema
 * @param {unknown} document
 */
function choicesOf(schema, document) {
  const branches = [schema["oneOf"] ?? schema["anyOf"] ?? []].flat();
  const choices = branches.filter((branch) => resolve(branch, document)["type"] !== "null");
  return { nullable: schema["nullable"] === true || choices.length < branches.length, choices };
}

/**
 * @param {Schema} schema
 * @param {boolean} nullable
 */
function typeOf({ type }, nullable) {
  const types = [type ?? []].flat().map(String);
  const all = nullable ? [...types, "null"] : types;
  return all.length === 0 ? undefined : [...new Set(all)].sort().join(" or ");
}
