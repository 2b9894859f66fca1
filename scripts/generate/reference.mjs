// Generates the reference page of the resources from the package schema.

/** @typedef {{ type?: string, $ref?: string, description?: string, items?: Property, additionalProperties?: Property, secret?: boolean, willReplaceOnChanges?: boolean }} Property */
/** @typedef {{ description?: string, properties: Record<string, Property>, required: string[] }} ObjectType */
/** @typedef {ObjectType & { description: string, inputProperties: Record<string, Property>, requiredInputs: string[], isComponent?: true }} Resource */
/** @typedef {{ description: string, inputs: { properties: Record<string, Property>, required?: readonly string[] }, outputs: { properties: Record<string, Property> } }} LookUp */
/** @typedef {{ functions: Record<string, LookUp>, types: Record<string, ObjectType>, resources: Record<string, Resource>, config: { variables: Record<string, Property> } }} Schema */

/** @param {string} token */
const nameOf = (token) => token.slice(token.lastIndexOf(":") + 1);

/**
 * A description without the examples at its end.
 * @param {string} description
 */
const prose = (description) => description.split("\n\n{{% examples %}}")[0] ?? "";

/** Display names of the languages of examples. @type {Record<string, string>} */
const languageNames = {
  typescript: "TypeScript",
  python: "Python",
  go: "Go",
  csharp: "C#",
  java: "Java",
  yaml: "YAML",
};

/**
 * Examples of a description. On the site they are tabs; on a code host the first language is visible and the others are
 * folded.
 * @param {string} description
 */
function examples(description) {
  return description
    .split("{{% example %}}\n### ")
    .slice(1)
    .map((part) => {
      const [title = ""] = part.split("\n", 1);
      const blocks = [...part.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)].map(([, language = "", text], index) => {
        const name = languageNames[language] ?? language;
        const fence = `\`\`\`${language} [${name}]\n${text}\n\`\`\``;
        return index === 0 ? fence : `<details><summary>${name}</summary>\n\n${fence}\n\n</details>`;
      });
      return `\n\n${title}:\n\n<!-- tabs -->\n\n${blocks.join("\n")}\n\n<!-- /tabs -->`;
    })
    .join("");
}

/**
 * The import command for an existing object.
 * @param {string} token
 * @param {Resource} resource
 */
function importOf(token, { isComponent }) {
  if (isComponent) return "A component cannot be imported; its resources can.";
  return nameOf(token) === "JobInvoke"
    ? "A `JobInvoke` creates no object that you could import. It only runs a job."
    : `Import: \`pulumi import ${token} <name> <id>\`, with the id in the service.`;
}

/** @param {Property | undefined} property @returns {string} */
function typeText(property) {
  if (!property) return "any";
  if (property.$ref?.startsWith("#/types/"))
    return `[${nameOf(property.$ref)}](#${nameOf(property.$ref).toLowerCase()})`;
  if (property.$ref) return "any";
  if (property.type === "array") return `list of ${typeText(property.items)}`;
  if (property.type === "object") return `map of ${typeText(property.additionalProperties)}`;
  return property.type ?? "any";
}

/** @param {Record<string, Property>} properties @param {string[]} required @param {string} emphasis */
function table(properties, required, emphasis) {
  const rows = Object.entries(properties).map(([name, property]) => {
    const notes = [
      property.description ?? "",
      property.secret ? "Secret." : "",
      property.willReplaceOnChanges ? "A change replaces the resource." : "",
    ];
    const label = required.includes(name) && emphasis ? `\`${name}\` ${emphasis}` : `\`${name}\``;
    return `| ${label} | ${typeText(property)} | ${notes.filter(Boolean).join(" ").replaceAll("|", "\\|")} |`;
  });
  return ["| name | type | meaning |", "|---|---|---|", ...rows].join("\n");
}

/**
 * Markdown of the whole reference.
 * @param {Schema} schema
 */
export function reference(schema) {
  const resources = Object.entries(schema.resources).map(([token, resource]) => {
    const computed = Object.fromEntries(
      Object.entries(resource.properties).filter(([name]) => !(name in resource.inputProperties)),
    );
    const outputs =
      Object.keys(computed).length > 0
        ? `\n\nOutputs${resource.isComponent ? "" : ", in addition to `id` and the inputs"}:\n\n${table(computed, [], "")}`
        : "";
    return `## ${nameOf(token)}\n\n${prose(resource.description)}\n\n${table(resource.inputProperties, resource.requiredInputs, "(required)")}${outputs}\n\n${importOf(token, resource)}${examples(resource.description)}`;
  });
  const functions = Object.entries(schema.functions).map(
    ([token, { description, inputs, outputs }]) =>
      `### ${nameOf(token)}\n\n${prose(description)}\n\n${table(inputs.properties, [...(inputs.required ?? [])], "(required)")}\n\nOutputs:\n\n${table(outputs.properties, [], "")}${examples(description)}`,
  );
  const types = Object.entries(schema.types).map(
    ([token, type]) =>
      `### ${nameOf(token)}\n\n${type.description ?? ""}\n\n${table(type.properties, type.required, "(required)")}`,
  );
  return [
    "# Resources",
    "<!-- page checked by test/unit/scripts/schema-examples.test.ts -->",
    `This page lists every resource, lookup and setting with its properties. It is generated from the shapes by \`npm run generate\`; do
not edit.

**Names**: \`name\` is always optional. The default is \`<resource name>-<stack>-<random suffix>\`. A deployed resource keeps its name
([names](drift-and-faults.md#names)).

**Examples** use the plugin. TypeScript programs with the dynamic provider import \`pulumi-serverless-compute\` instead. Resources
and properties are the same; lookups return promises (\`await getTemplate({ name })\`).

**Import** requires the plugin ([guide](guides/adopt-and-import.md)).

**Timeouts**: the resource option \`customTimeouts\` limits a whole create, update or delete
([details](drift-and-faults.md#lost-responses)). Without it, \`callLimit\` limits each call and \`templateReleaseLimit\` the
delete of a template ([settings](#settings)). Jobs and verifications have \`timeout\`.`,
    ...resources,
    "## Lookups",
    "Lookups find existing objects, for example objects of another stack.",
    ...functions,
    "## Nested types",
    ...types,
    `## Settings\n\nStack config under \`serverless-compute:\`.\n\n${table(schema.config.variables, [], "")}`,
  ]
    .join("\n\n")
    .concat("\n");
}
