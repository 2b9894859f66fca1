/** @typedef {Record<string, unknown>} Schema */

/** Keywords that decide which values fit, in the order in which an outline names them. */
const keywords = [
  ...["type", "enum", "const", "format", "pattern", "minimum", "maximum", "minLength", "maxLength"],
  ...["minItems", "maxItems", "uniqueItems", "minProperties"],
];

/** How deep an outline goes; deeper levels belong to recursive schemas. */
const deepest = 12;

/**
 * An object's own properties; empty for anything else.
 * @param {unknown} value
 * @returns {Schema}
 */
export const fields = (value) => (value instanceof Object ? Object.fromEntries(Object.entries(value)) : {});

/**
 * The value of a reference such as `#/components/schemas/Endpoint` in a document; any other value itself.
 * @param {unknown} value
 * @param {unknown} document
 * @returns {Schema}
 */
export function resolve(value, document) {
  const reference = fields(value)["$ref"];
  if (typeof reference !== "string") return fields(value);
  /** @type {unknown} */
  let found = document;
  for (const key of reference.replace(/^#\//, "").split("/")) found = fields(found)[key];
  return resolve(found, document);
}

/**
 * A schema as lines: property → its rules in words. Two schemas that accept the same values mostly have the same lines,
 * however they are put together of references and `allOf`.
 * @param {unknown} schema
 * @param {unknown} document The document that its references point into.
 * @param {string} at
 * @param {Map<string, string>} lines
 */
export function outline(schema, document, at = "", lines = new Map(), presence = "", depth = 0) {
  const whole = merged(schema, document);
  const { nullable, choices } = choicesOf(whole, document);
  const words = keywords.flatMap((keyword) => {
    const value = keyword === "type" ? typeOf(whole, nullable) : whole[keyword];
    return value === undefined ? [] : [`${keyword} ${JSON.stringify(value)}`];
  });
  if (whole["additionalProperties"] === false) words.push("no other properties");
  lines.set(at, [presence, ...words].filter((word) => word !== "").join(", "));
  if (depth > deepest) return lines;
  const required = whole["required"];
  for (const [name, member] of Object.entries(fields(whole["properties"]))) {
    const needed = Array.isArray(required) && required.includes(name) ? "required" : "optional";
    outline(member, document, at === "" ? name : `${at}.${name}`, lines, needed, depth + 1);
  }
  if (whole["items"]) outline(whole["items"], document, `${at}[]`, lines, "", depth + 1);
  const rest = whole["additionalProperties"];
  if (rest instanceof Object) outline(rest, document, `${at}{}`, lines, "", depth + 1);
  choices.forEach((choice, index) => void outline(choice, document, `${at}(${index + 1})`, lines, "", depth + 1));
  return lines;
}

/**
 * A schema without references, its `allOf` members in one.
 * @param {unknown} schema
 * @param {unknown} document
 * @returns {Schema}
 */
function merged(schema, document) {
  const { allOf, ...own } = resolve(schema, document);
  if (!Array.isArray(allOf)) return own;
  const parts = [own, ...allOf.map((part) => merged(part, document))];
  const properties = Object.assign({}, ...parts.map((part) => part["properties"]));
  const required = [...new Set(parts.flatMap((part) => part["required"] ?? []))];
  return { ...Object.assign({}, ...parts), properties, required };
}

/**
 * The branches of a schema. A branch for null alone makes it nullable, and a single other branch is no choice.
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
