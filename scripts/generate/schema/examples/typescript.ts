import { block, bracketed, quote } from "../../../../provider/cli/project/text-layout";
import type { Entry, TypedProgram, TypedStep, TypedValue } from "./typed-program";

const indentation = "  ";

function valueText(value: TypedValue): string {
  switch (value.type) {
    case "text":
      return quote(value.text);
    case "number":
    case "flag":
      return String(value.value);
    case "configSecret":
      return `config.requireSecret(${quote(value.key)})`;
    case "reference":
      return [value.step.variable, ...value.property].join(".");
    case "list":
      return bracketed("[", value.items.map(valueText), "]", indentation);
    case "map":
    case "object":
      return bracketed("{ ", entriesOf(value.entries), " }", indentation);
  }
}

const entriesOf = (entries: Entry[]): string[] => entries.map(([name, value]) => `${name}: ${valueText(value)}`);

function statementOf({ variable, member, isLookup, isUsed, args }: TypedStep): string {
  const entries = entriesOf(args);
  const literal =
    entries.length > 2 ? block("{", entries, "}", indentation) : bracketed("{ ", entries, " }", indentation);
  const call = isLookup
    ? `serverless.${member}Output(${literal})`
    : `new serverless.${member}(${quote(variable)}, ${literal})`;
  return `${isUsed ? `const ${variable} = ` : ""}${call};`;
}

/** A program in TypeScript, over the SDK that is the npm package `sdk`. */
export function typescriptText({ steps, configSecrets, outputs }: TypedProgram, sdk: string): string {
  return [
    ...(configSecrets.length > 0 ? ['import * as pulumi from "@pulumi/pulumi";'] : []),
    `import * as serverless from ${quote(sdk)};`,
    "",
    ...(configSecrets.length > 0 ? ["const config = new pulumi.Config();"] : []),
    ...steps.map(statementOf),
    ...outputs.map(([name, value]) => `export const ${name} = ${valueText(value)};`),
  ].join("\n");
}
