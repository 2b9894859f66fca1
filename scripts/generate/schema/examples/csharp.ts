import { block, indent, pascalCase, quote } from "../../../../provider/cli/project/text-layout";
import type { Entry, TypedProgram, TypedStep, TypedValue } from "./typed-program";

const indentation = "    ";

/** The text of a property's value, or of a value `inside` an untyped value. */
function valueText(value: TypedValue, isInsideUntyped = false): string {
  switch (value.type) {
    case "text":
      return quote(value.text);
    case "number":
    case "flag":
      return String(value.value);
    case "configSecret":
      return `config.RequireSecret(${quote(value.key)})`;
    case "reference":
      return referenceText(value);
    case "list":
      return listText(value, isInsideUntyped);
    case "map":
      return value.elementType === "any"
        ? block(
            "new Dictionary<string, object>\n{",
            value.entries.map(([key, item]) => `[${quote(key)}] = ${valueText(item, true)}`),
            "}",
            indentation,
          )
        : block(
            "\n{",
            value.entries.map(([key, item]) => `{ ${quote(key)}, ${valueText(item)} }`),
            "}",
            indentation,
          );
    case "object":
      return block(`new ServerlessCompute.Inputs.${value.typeName}Args\n{`, fields(value.entries), "}", indentation);
  }
}

function listText({ elementType, items }: Extract<TypedValue, { type: "list" }>, isInsideUntyped: boolean): string {
  if (elementType === "text") return `new[] { ${items.map((item) => valueText(item)).join(", ")} }`;
  const boxedItems = items.map((item) =>
    item.type === "reference" ? `${referenceText(item)}.Apply(one => (object)one)` : valueText(item, true),
  );
  return `${isInsideUntyped ? "new object[] " : ""}{ ${boxedItems.join(", ")} }`;
}

function referenceText({ step: { variable, isLookup }, property }: Extract<TypedValue, { type: "reference" }>): string {
  const path = property.map(pascalCase).join(".");
  return isLookup ? `${variable}.Apply(found => found.${path})` : `${variable}.${path}`;
}

const fields = (entries: Entry[]): string[] =>
  entries.map(([name, value]) => `${pascalCase(name)} = ${valueText(value)}`.replace(/ +$/gm, ""));

function statementOf({ variable, member, isLookup, isUsed, args }: TypedStep): string {
  const literal = block("new()\n{", fields(args), "}", indentation);
  const call = isLookup
    ? `ServerlessCompute.${pascalCase(member)}.Invoke(${literal})`
    : `new ServerlessCompute.${member}(${quote(variable)}, ${literal})`;
  return `${isUsed ? `var ${variable} = ` : ""}${call};`;
}

/** A program in C#, over the SDK in the namespace `sdk`. */
export function csharpText({ steps, configSecrets, outputs }: TypedProgram, sdk: string): string {
  const exportEntries = outputs.map(([name, value]) => `[${quote(name)}] = ${valueText(value)}`);
  const body = [
    ...(configSecrets.length > 0 ? ["var config = new Config();"] : []),
    ...steps.map(statementOf),
    ...(exportEntries.length > 0
      ? [`return ${block("new Dictionary<string, object?>\n{", exportEntries, "}", indentation)};`]
      : []),
  ].join("\n");
  return `using System.Collections.Generic;
using Pulumi;
using ServerlessCompute = ${sdk};

return await Deployment.RunAsync(() =>
{
${indent(body, indentation)}
});`;
}
