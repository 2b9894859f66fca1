// Generates the reference pages of the resources, lookups and settings from the package schema.
import { checkedMark, codeList, examples, fileOf, generatedMark, nameOf, prose, table } from "./property-table.mjs";
import { linksOn, nestedTypes, resourcePage } from "./resource-page.mjs";
import { resourceTexts } from "./resource-texts.mjs";

/** @typedef {import("./property-table.mjs").Schema} Schema */
/** @typedef {import("./property-table.mjs").LookUp} LookUp */

const folder = "docs/resources";

/** @param {string[]} paragraphs */
const pageOf = (paragraphs) => `${[generatedMark, ...paragraphs].join("\n\n")}\n`;

/** @param {Schema} schema */
function overview({ resources }) {
  const order = Object.keys(resourceTexts);
  const rows = Object.entries(resources)
    .map(([token, { description }]) => ({ name: nameOf(token), purpose: prose(description).split(/(?<=\.) /)[0] }))
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map(({ name, purpose }) => `| [${name}](${fileOf(name)}) | ${purpose} |`);
  return pageOf([
    "# Resources",
    "Each resource has a page with its shortest program, inputs, outputs and errors. This page lists them, and the rules for all of them.",
    ["| resource | purpose |", "|---|---|", ...rows].join("\n"),
    "[Lookups](lookups.md) find existing objects. [Settings](settings.md) select the service and the account.",
    "## Rules for all resources",
    `**Names**: \`name\` is always optional. The default is \`<resource name>-<stack>-<random suffix>\`. A deployed resource keeps its name
([names](../drift-and-faults.md#names)).

**Languages**: the examples use the plugin. TypeScript programs with the dynamic provider import \`pulumi-serverless-compute\` instead
([variants](../plugin.md#which-variant)). Resources and properties are the same; lookups return promises
(\`await getTemplate({ name })\`).

**Import** requires the plugin ([guide](../guides/adopt-and-import.md)).

**Timeouts**: the resource option \`customTimeouts\` limits a whole create, read, update or delete
([details](../drift-and-faults.md#lost-responses)). Without it, \`callLimit\` limits each call and \`templateReleaseLimit\` the
delete of a template ([settings](settings.md)). Jobs and verifications have \`timeout\`.`,
  ]);
}

/**
 * Outputs of a lookup: a table, or the names of the properties that the page of its resource describes.
 * @param {Schema} schema
 * @param {string} name
 * @param {LookUp} lookUp
 */
function outputsOf(schema, name, { outputs: { properties } }) {
  const resource = Object.entries(schema.resources).find(([token]) => name === `get${nameOf(token)}`);
  if (!resource) return `Outputs:\n\n${table(properties, linksOn(schema, undefined))}`;
  const [token, { properties: described }] = resource;
  const unknown = Object.keys(properties).filter((key) => key !== "id" && !(key in described));
  if (unknown.length > 0)
    throw new Error(`${unknown.join(", ")}: outputs of ${name} that ${nameOf(token)} does not have`);
  return `Outputs, as of a [${nameOf(token)}](${fileOf(nameOf(token))}#inputs): ${codeList(Object.keys(properties))}.`;
}

/** @param {Schema} schema */
function lookUps(schema) {
  const linkOf = linksOn(schema, undefined);
  const sections = Object.entries(schema.functions).map(([token, lookUp]) => {
    const { description, inputs } = lookUp;
    return [
      `## ${nameOf(token)}`,
      prose(description),
      table(inputs.properties, linkOf, inputs.required),
      outputsOf(schema, nameOf(token), lookUp),
      ...examples(description),
    ].join("\n\n");
  });
  return pageOf([
    checkedMark,
    "# Lookups",
    "Lookups find existing objects, for example objects of another stack. At the end of this page, your program uses one without managing it.",
    ...sections,
    "## Nested types",
    ...nestedTypes(schema, undefined),
  ]);
}

/** @param {Schema} schema */
const settings = (schema) =>
  pageOf([
    "# Settings",
    "Settings select the service, the account and the limits of requests. Set them in the stack's config under `serverless-compute:`, for example `pulumi config set serverless-compute:target hosted`.",
    table(schema.config.variables, linksOn(schema, undefined)),
  ]);

/**
 * Texts of the reference pages by path.
 * @param {Schema} schema
 * @returns {Record<string, string>}
 */
export const reference = (schema) => ({
  [`${folder}/README.md`]: overview(schema),
  ...Object.fromEntries(
    Object.entries(schema.resources).map(([token, resource]) => [
      `${folder}/${fileOf(nameOf(token))}`,
      resourcePage(schema, token, resource),
    ]),
  ),
  [`${folder}/lookups.md`]: lookUps(schema),
  [`${folder}/settings.md`]: settings(schema),
});
