import type { Expression, Program, ProgramResource } from "./program";
import { type Project, pulumiYaml } from "./project";
import { indent, scalarText } from "./text-layout";

const indentation = "  ";

/** Pulumi reads `${…}` as a reference and `$$` as a dollar sign. */
const escapeReferences = (text: string): string => text.replace(/\$(?=[${])/g, "$$$$");

/** A value that follows its key or dash: in the same line, or indented in the next lines. */
function valueText(value: Expression): string {
  switch (value.type) {
    case "constant":
      return ` ${typeof value.value === "string" ? scalarText(escapeReferences(value.value)) : String(value.value)}`;
    case "list":
      return value.items.length === 0
        ? " []"
        : `\n${indent(value.items.map((item) => `-${valueText(item)}`).join("\n"), indentation)}`;
    case "map":
      return value.entries.length === 0 ? " {}" : `\n${indent(entriesText(value.entries), indentation)}`;
    case "output":
      return ` \${${value.resource}.${value.output}}`;
    case "config":
      return ` \${${value.key}}`;
  }
}

const entriesText = (entries: readonly (readonly [string, Expression])[]): string =>
  entries.map(([key, value]) => `${scalarText(escapeReferences(key))}:${valueText(value)}`).join("\n");

const toList = (texts: readonly string[]): Expression => ({
  type: "list",
  items: texts.map((value) => ({ type: "constant", value })),
});

function resourceText({ kind, name, inputs, ignoreChanges }: ProgramResource): string {
  const lines = [
    `type: serverless-compute:${kind}`,
    `properties:${valueText({ type: "map", entries: inputs })}`,
    ...(ignoreChanges.length === 0
      ? []
      : [`options:\n${indent(entriesText([["ignoreChanges", toList(ignoreChanges)]]), indentation)}`]),
  ];
  return `${name}:\n${indent(lines.join("\n"), indentation)}`;
}

/** A project in YAML: its files by their names. */
export function yamlProject({ resources, config }: Program, project: Project): Record<string, string> {
  const resourceTexts = indent(resources.map(resourceText).join("\n"), indentation);
  return { "Pulumi.yaml": `${pulumiYaml(project, " yaml", config)}resources:\n${resourceTexts}\n` };
}
