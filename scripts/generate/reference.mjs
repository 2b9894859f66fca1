// The reference page of the resources, made of the package schema.

/** @typedef {{ type?: string, $ref?: string, description?: string, items?: Property, additionalProperties?: Property, secret?: boolean, willReplaceOnChanges?: boolean }} Property */
/** @typedef {{ description?: string, properties: Record<string, Property>, required: string[] }} ObjectType */
/** @typedef {ObjectType & { description: string, inputProperties: Record<string, Property>, requiredInputs: string[] }} Resource */
/** @typedef {{ description: string, inputs: { properties: Record<string, Property>, required?: readonly string[] }, outputs: { properties: Record<string, Property> } }} LookUp */
/** @typedef {{ functions: Record<string, LookUp>, types: Record<string, ObjectType>, resources: Record<string, Resource>, config: { variables: Record<string, Property> } }} Schema */

/** @param {string} token */
const nameOf = (token) => token.slice(token.lastIndexOf(":") + 1);

/**
 * A description without the examples in all languages at its end.
 * @param {string} description
 */
const prose = (description) => description.split("\n\n{{% examples %}}")[0] ?? "";

/**
 * The examples of a description as YAML.
 * @param {string} description
 */
function examples(description) {
  const found = description.matchAll(/^### (.+)$[\s\S]*?^(```yaml\n[\s\S]*?\n```)$/gm);
  return [...found].map(([, title, fence]) => `\n\n${title}:\n\n${fence}`).join("");
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
      property.willReplaceOnChanges ? "A change replaces." : "",
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
        ? `\n\nOutputs, beside \`id\` and the inputs:\n\n${table(computed, [], "")}`
        : "";
    return `## ${nameOf(token)}\n\n${prose(resource.description)}\n\n${table(resource.inputProperties, resource.requiredInputs, "(required)")}${outputs}${examples(resource.description)}`;
  });
  const functions = Object.entries(schema.functions).map(
    ([token, { description, inputs, outputs }]) =>
      `### ${nameOf(token)}\n\n${prose(description)}\n\n${table(inputs.properties, [...(inputs.required ?? [])], "(required)")}\n\nAnswers ${Object.keys(
        outputs.properties,
      )
        .map((name) => `\`${name}\``)
        .join(", ")}.${examples(description)}`,
  );
  const types = Object.entries(schema.types).map(
    ([token, type]) =>
      `### ${nameOf(token)}\n\n${type.description ?? ""}\n\n${table(type.properties, type.required, "(required)")}`,
  );
  return [
    "# Resources",
    "Made from the shapes by `npm run generate`; do not edit. `name` may be left out everywhere: a new\nresource is then called `<resource name>-<stack>-<fingerprint>`, the same in every preview and run and no other resource's\nname ([drift and faults](drift-and-faults.md#names)), and a deployed one keeps the name it has. The examples are programs\nfor the plugin in YAML; `schema.json`, and so every generated SDK, has them in TypeScript, Python, Go, C# and Java too.",
    ...resources,
    "## Look-ups",
    "For objects that exist already, made by hand or by another stack.",
    ...functions,
    "## Nested types",
    ...types,
    `## Settings\n\nStack config under \`serverless-compute:\`.\n\n${table(schema.config.variables, [], "")}`,
  ]
    .join("\n\n")
    .concat("\n");
}
