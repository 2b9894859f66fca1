import type { Expression, Program, ProgramResource } from "./program";
import { type Project, pulumiYaml } from "./project";
import { indented, quoted } from "./text-layout";

const step = "  ";

/** Text as a YAML scalar. Only text that no YAML parser reads as another type stays unquoted. */
const scalar = (text: string): string =>
  /^[A-Za-z](?:[\w./-]|:(?=\w)| (?=[\w./]))*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : quoted(text);

/** Pulumi reads `${…}` as a reference and `$$` as a dollar sign. */
const escaped = (text: string): string => text.replace(/\$(?=[${])/g, "$$$$");

/** A value that follows its key or dash: in the same line, or indented in the next lines. */
function valueText(value: Expression): string {
  switch (value.is) {
    case "constant":
      return ` ${typeof value.value === "string" ? scalar(escaped(value.value)) : String(value.value)}`;
    case "list":
      return value.items.length === 0
        ? " []"
        : `\n${indented(value.items.map((one) => `-${valueText(one)}`).join("\n"), step)}`;
    case "map":
      return value.entries.length === 0 ? " {}" : `\n${indented(entriesText(value.entries), step)}`;
    case "output":
      return ` \${${value.resource}.${value.output}}`;
    case "config":
      return ` \${${value.key}}`;
  }
}

const entriesText = (entries: readonly (readonly [string, Expression])[]): string =>
  entries.map(([key, value]) => `${scalar(key)}:${valueText(value)}`).join("\n");

const listOf = (texts: readonly string[]): Expression => ({
  is: "list",
  items: texts.map((value) => ({ is: "constant", value })),
});

function resourceText({ kind, name, inputs, ignoreChanges }: ProgramResource): string {
  const lines = [
    `type: serverless-compute:${kind}`,
    `properties:${valueText({ is: "map", entries: inputs })}`,
    ...(ignoreChanges.length === 0
      ? []
      : [`options:\n${indented(entriesText([["ignoreChanges", listOf(ignoreChanges)]]), step)}`]),
  ];
  return `${name}:\n${indented(lines.join("\n"), step)}`;
}

/** A project in YAML: its files by their names. */
export function yamlProject({ resources, config }: Program, project: Project): Record<string, string> {
  const configuration = config.map((key) => `${step}${key}: { type: string, secret: true }\n`);
  const text = [
    pulumiYaml(project, " yaml"),
    ...(config.length === 0 ? [] : ["configuration:\n", ...configuration]),
    `resources:\n${indented(resources.map(resourceText).join("\n"), step)}\n`,
  ];
  return { "Pulumi.yaml": text.join("") };
}
