// Generates the reference page of one resource.
import { checkedMark, codeList, examples, fileOf, generatedMark, nameOf, prose, table } from "./property-table.mjs";
import { resourceTexts } from "./resource-texts.mjs";

/** @typedef {import("./property-table.mjs").Property} Property */
/** @typedef {import("./property-table.mjs").Schema} Schema */
/** @typedef {import("./property-table.mjs").Resource} Resource */

/** Names of the resources whose inputs a nested type repeats. @type {Record<string, string>} */
const repeatedInputs = { VerifiedEndpointTemplate: "Template", VerifiedEndpointEndpoint: "ServerlessEndpoint" };

/**
 * Name of the resource whose page contains a nested type; undefined for types of lookups.
 * @param {Schema} schema
 * @param {string} type
 */
const ownerOf = (schema, type) =>
  Object.keys(schema.resources)
    .map(nameOf)
    .find((name) => type.startsWith(name));

/**
 * Returns the addresses of nested types on a page.
 * @param {Schema} schema
 * @param {string | undefined} page Name of the page's resource; undefined for the page of lookups.
 */
export const linksOn = (schema, page) => (/** @type {string} */ type) => {
  const owner = ownerOf(schema, type);
  return `${owner === page ? "" : owner ? fileOf(owner) : "lookups.md"}#${type.toLowerCase()}`;
};

/**
 * Sections of the nested types of a page.
 * @param {Schema} schema
 * @param {string | undefined} page
 */
export function nestedTypes(schema, page) {
  const linkOf = linksOn(schema, page);
  return Object.entries(schema.types)
    .filter(([token]) => ownerOf(schema, nameOf(token)) === page)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([token, { description, properties, required }]) => {
      const name = nameOf(token);
      const text = repeatedInputs[name]
        ? repetitionText(schema, properties, repeatedInputs[name])
        : `${description ? `${description}\n\n` : ""}${table(properties, linkOf, required)}`;
      return `### ${name}\n\n${text}`;
    });
}

/**
 * Sentence instead of the table of a type that repeats the inputs of a resource.
 * @param {Schema} schema
 * @param {Record<string, Property>} properties
 * @param {string} name
 */
function repetitionText(schema, properties, name) {
  const inputs = resourceOf(schema, name).inputProperties;
  const changed = Object.keys(properties).filter((key) => !isSame(properties[key], inputs[key]));
  if (changed.length > 0) throw new Error(`${changed.join(", ")}: not the inputs of ${name}; give the type a table`);
  const missing = Object.keys(inputs).filter((key) => !(key in properties));
  return `All [inputs of a ${name}](${fileOf(name)}#inputs) except ${codeList(missing)}.`;
}

/** @param {unknown} a @param {unknown} b */
const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** @param {Schema} schema @param {string} name */
function resourceOf(schema, name) {
  const resource = Object.entries(schema.resources).find(([token]) => nameOf(token) === name)?.[1];
  if (!resource) throw new Error(`${name} is not a resource of the schema`);
  return resource;
}

/**
 * Tables of the inputs by group.
 * @param {Schema} schema
 * @param {string} name
 * @param {Resource} resource
 */
function inputTables(schema, name, { inputProperties, requiredInputs }) {
  const groups = Object.entries(resourceTexts[name]?.inputs ?? {});
  const listed = groups.flatMap(([, names]) => names).sort();
  const inputs = Object.keys(inputProperties).sort();
  if (!isSame(listed, inputs)) {
    const absent = inputs.filter((name) => !listed.includes(name)).join(", ");
    const place = `scripts/generate/resource-texts.mjs, inputs of ${name}`;
    throw new Error(`${place}: must list each input once${absent && `; add ${absent}`}`);
  }
  return groups.map(([title, names]) => {
    const properties = Object.fromEntries(names.map((key) => [key, inputProperties[key] ?? {}]));
    const text = table(properties, linksOn(schema, name), requiredInputs);
    return title === "" ? text : `### ${title}\n\n${text}`;
  });
}

/** @param {string} name @param {Resource} resource */
function replacementText(name, { inputProperties }) {
  const names = Object.keys(inputProperties).filter((key) => inputProperties[key]?.willReplaceOnChanges);
  const first =
    names.length > 0 ? `A change of ${codeList(names).replace(/, (?=[^,]*$)/, " or ")} replaces the object. ` : "";
  return `${first}${resourceTexts[name]?.replacement}`;
}

/** @param {string} name */
function errorTable(name) {
  const rows = (resourceTexts[name]?.errors ?? []).map(([message, solution]) => `| \`${message}\` | ${solution} |`);
  return ["| message contains | solution |", "|---|---|", ...rows].join("\n");
}

/**
 * Markdown of a resource's page.
 * @param {Schema} schema
 * @param {string} token
 * @param {Resource} resource
 */
export function resourcePage(schema, token, resource) {
  const name = nameOf(token);
  const texts = resourceTexts[name];
  if (!texts) throw new Error(`resource-texts.mjs: the texts of ${name} are missing`);
  const [first = "", ...others] = examples(resource.description);
  const outputs = Object.fromEntries(
    Object.entries(resource.properties).filter(([key]) => !(key in resource.inputProperties)),
  );
  const isImported = !resource.isComponent && name !== "JobInvoke";
  const nested = nestedTypes(schema, name);
  return [
    generatedMark,
    checkedMark,
    `# ${name}`,
    `At the end of this page, you can deploy a \`${name}\`, change it without surprises, and resolve its errors.`,
    prose(resource.description),
    "## Shortest program",
    first,
    "The examples use the plugin. TypeScript programs with the dynamic provider import `pulumi-serverless-compute` instead. [Rules for all resources](README.md#rules-for-all-resources) describe names and timeouts.",
    "## Inputs",
    ...inputTables(schema, name, resource),
    ...(Object.keys(outputs).length > 0
      ? [
          "## Outputs",
          `${resource.isComponent ? "" : "In addition to `id` and the inputs:\n\n"}${table(outputs, linksOn(schema, name))}`,
        ]
      : []),
    "## Replacement",
    replacementText(name, resource),
    "## Drift",
    `${texts.drift} [All rules](../drift-and-faults.md#drift).`,
    "## Import",
    isImported
      ? `\`pulumi import ${token} <name> <id>\` brings in an existing object; it requires the plugin. ${texts.import} [Adopt and import](../guides/adopt-and-import.md).`
      : texts.import,
    "## Errors",
    errorTable(name),
    "[Troubleshooting](../guides/troubleshooting.md) lists the messages of all resources.",
    ...(others.length > 0 ? ["## More programs", ...others] : []),
    ...(nested.length > 0 ? ["## Nested types", ...nested] : []),
  ]
    .join("\n\n")
    .concat("\n");
}
