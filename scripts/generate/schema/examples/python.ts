import { bracketed, quote, snakeCase } from "../../../../provider/cli/project/text-layout";
import type { Entry, TypedProgram, TypedStep, TypedValue } from "./typed-program";

const indentation = "    ";

function valueText(value: TypedValue): string {
  switch (value.type) {
    case "text":
      return quote(value.text);
    case "number":
      return String(value.value);
    case "flag":
      return value.value ? "True" : "False";
    case "configSecret":
      return `config.require_secret(${quote(value.key)})`;
    case "reference":
      return [value.step.variable, ...value.property].map(snakeCase).join(".");
    case "list":
      return bracketed("[", value.items.map(valueText), "]", indentation);
    case "map":
      return dictionary(value.entries);
    case "object":
      return dictionary(value.entries.map(([name, item]) => [snakeCase(name), item]));
  }
}

const dictionary = (entries: Entry[]): string =>
  bracketed(
    "{",
    entries.map(([key, value]) => `${quote(key)}: ${valueText(value)}`),
    "}",
    indentation,
  );

function statementOf({ variable, member, isLookup, isUsed, args }: TypedStep): string {
  const call = `serverless.${isLookup ? `${snakeCase(member)}_output` : member}`;
  const keywordArguments = args.map(([name, value]) => `${snakeCase(name)}=${valueText(value)}`);
  const callArguments = isLookup ? keywordArguments : [quote(variable), ...keywordArguments];
  return `${isUsed ? `${snakeCase(variable)} = ` : ""}${bracketed(`${call}(`, callArguments, ")", indentation)}`;
}

/** A program in Python, over the SDK that is imported as `sdk`. */
export function pythonText({ steps, configSecrets, outputs }: TypedProgram, sdk: string): string {
  const needsPulumi = configSecrets.length + outputs.length > 0;
  return [
    ...(needsPulumi ? ["import pulumi"] : []),
    `import ${sdk} as serverless`,
    "",
    ...(configSecrets.length > 0 ? ["config = pulumi.Config()"] : []),
    ...steps.map(statementOf),
    ...outputs.map(([name, value]) => `pulumi.export(${quote(name)}, ${valueText(value)})`),
  ].join("\n");
}
