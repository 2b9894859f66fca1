import { sdkPackages } from "../../generated/publication";
import type { Expression, Program, ProgramResource } from "./program";
import { type Project, pulumiYaml } from "./project";
import { bracketed, quote, snakeCase } from "./text-layout";

const indentation = "    ";

/** Constants of Python that JSON spells differently. */
const constants = new Map<unknown, string>([
  [true, "True"],
  [false, "False"],
  [null, "None"],
]);

function valueText(value: Expression): string {
  switch (value.type) {
    case "constant":
      return constants.get(value.value) ?? quote(value.value);
    case "list":
      return bracketed("[", value.items.map(valueText), "]", indentation);
    case "map":
      return bracketed(
        "{",
        value.entries.map(([key, item]) => `${quote(key)}: ${valueText(item)}`),
        "}",
        indentation,
      );
    case "output":
      return `${snakeCase(value.resource)}.${value.output}`;
    case "config":
      return `config.require_secret(${quote(value.key)})`;
  }
}

function statementOf({ kind, name, inputs, ignoreChanges }: ProgramResource): string {
  const keywordArguments = inputs.map(([key, value]) => `${snakeCase(key)}=${valueText(value)}`);
  const ignoredNames = bracketed(
    "[",
    ignoreChanges.map((key) => quote(snakeCase(key))),
    "]",
    indentation,
  );
  const options = ignoreChanges.length === 0 ? [] : [`opts=pulumi.ResourceOptions(ignore_changes=${ignoredNames})`];
  return `${snakeCase(name)} = ${bracketed(`serverless.${kind}(`, [quote(name), ...keywordArguments, ...options], ")", indentation)}`;
}

function programText({ resources, config }: Program): string {
  return [
    ...(config.length > 0 ? ["import pulumi"] : []),
    `import ${sdkPackages.python} as serverless`,
    ...(config.length > 0 ? ["", "config = pulumi.Config()"] : []),
    ...resources.map((resource) => `\n${statementOf(resource)}`),
    "",
  ].join("\n");
}

/** A project in Python with the SDK of the plugin: its files by their names. */
export const pythonProject = (program: Program, project: Project): Record<string, string> => ({
  "Pulumi.yaml": pulumiYaml(project, "\n  name: python\n  options:\n    virtualenv: venv", program.config),
  "__main__.py": programText(program),
  "requirements.txt": "pulumi>=3.165,<4\n./sdks/python\n",
});
