// Parts of the reference pages: names, types and tables of properties, and examples.

/** @typedef {{ type?: string, $ref?: string, description?: string, items?: Property, additionalProperties?: Property, secret?: boolean, willReplaceOnChanges?: boolean }} Property */
/** @typedef {{ description?: string, properties: Record<string, Property>, required: string[] }} ObjectType */
/** @typedef {ObjectType & { description: string, inputProperties: Record<string, Property>, requiredInputs: string[], isComponent?: true }} Resource */
/** @typedef {{ description: string, inputs: { properties: Record<string, Property>, required?: readonly string[] }, outputs: { properties: Record<string, Property> } }} LookUp */
/** @typedef {{ functions: Record<string, LookUp>, types: Record<string, ObjectType>, resources: Record<string, Resource>, config: { variables: Record<string, Property> } }} Schema */

/** Text that marks a page as generated; the first line of its file. */
export const generatedMark = "<!-- Generated from the shapes by `npm run generate`; do not edit. -->";
/** Mark of a page whose programs a test checks. */
export const checkedMark = "<!-- page checked by test/unit/scripts/schema-examples.test.ts -->";

/** @param {string} token */
export const nameOf = (token) => token.slice(token.lastIndexOf(":") + 1);

/**
 * File of a resource's page, such as `network-volume.md`.
 * @param {string} name
 */
export const fileOf = (name) => `${name.replace(/(?<=.)(?=[A-Z])/g, "-").toLowerCase()}.md`;

/** @param {string[]} names */
export const codeList = (names) => names.map((name) => `\`${name}\``).join(", ");

/**
 * A description without the examples at its end.
 * @param {string} description
 */
export const prose = (description) => description.split("\n\n{{% examples %}}")[0] ?? "";

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
export function examples(description) {
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
      return `${title}:\n\n<!-- tabs -->\n\n${blocks.join("\n")}\n\n<!-- /tabs -->`;
    });
}

/**
 * Text of a type. `linkOf` returns the address of a nested type.
 * @param {Property | undefined} property
 * @param {(type: string) => string} linkOf
 * @returns {string}
 */
function typeText(property, linkOf) {
  if (!property) return "any";
  if (property.$ref?.startsWith("#/types/")) return `[${nameOf(property.$ref)}](${linkOf(nameOf(property.$ref))})`;
  if (property.$ref) return "any";
  if (property.type === "array") return `list of ${typeText(property.items, linkOf)}`;
  if (property.type === "object") return `map of ${typeText(property.additionalProperties, linkOf)}`;
  return property.type ?? "any";
}

/**
 * Table of properties.
 * @param {Record<string, Property>} properties
 * @param {(type: string) => string} linkOf
 * @param {readonly string[]} [required]
 */
export function table(properties, linkOf, required = []) {
  const rows = Object.entries(properties).map(([name, property]) => {
    const notes = [
      property.description ?? "",
      property.secret ? "Secret." : "",
      property.willReplaceOnChanges ? "A change replaces the resource." : "",
    ];
    const label = required.includes(name) ? `\`${name}\` (required)` : `\`${name}\``;
    return `| ${label} | ${typeText(property, linkOf)} | ${notes.filter(Boolean).join(" ").replaceAll("|", "\\|")} |`;
  });
  return ["| name | type | meaning |", "|---|---|---|", ...rows].join("\n");
}
