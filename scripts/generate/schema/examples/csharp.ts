import { block, indent, pascalCase, quote } from "../../../../provider/cli/import/text-layout";
import type { Entry, TypedProgram, TypedStep, TypedValue } from "./typed-program";

const step = "    ";

/** The text of a property's value, or of a value `inside` an untyped value. */
function valueText(value: TypedValue, inside = false): string {
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
      return list(value, inside);
    case "map":
      return value.of === "any"
        ? block(
            "new Dictionary<string, object>\n{",
            value.entries.map(([key, one]) => `[${quote(key)}] = ${valueText(one, true)}`),
            "}",
            step,
          )
        : block(
            "\n{",
            value.entries.map(([key, one]) => `{ ${quote(key)}, ${valueText(one)} }`),
            "}",
            step,
          );
    case "object":
      return block(`new ServerlessCompute.Inputs.${value.typeName}Args\n{`, fields(value.entries), "}", step);
  }
}

function list({ of, items }: Extract<TypedValue, { type: "list" }>, inside: boolean): string {
  if (of === "text") return `new[] { ${items.map((one) => valueText(one)).join(", ")} }`;
  const boxed = items.map((one) =>
    one.type === "reference" ? `${referenceText(one)}.Apply(one => (object)one)` : valueText(one, true),
  );
  return `${inside ? "new object[] " : ""}{ ${boxed.join(", ")} }`;
}

function referenceText({ step: { variable, isLookUp }, property }: Extract<TypedValue, { type: "reference" }>): string {
  const path = property.map(pascalCase).join(".");
  return isLookUp ? `${variable}.Apply(found => found.${path})` : `${variable}.${path}`;
}

const fields = (entries: Entry[]): string[] =>
  entries.map(([name, value]) => `${pascalCase(name)} = ${valueText(value)}`.replace(/ +$/gm, ""));

function statement({ variable, member, isLookUp, isRead, args }: TypedStep): string {
  const literal = block("new()\n{", fields(args), "}", step);
  const call = isLookUp
    ? `ServerlessCompute.${pascalCase(member)}.Invoke(${literal})`
    : `new ServerlessCompute.${member}(${quote(variable)}, ${literal})`;
  return `${isRead ? `var ${variable} = ` : ""}${call};`;
}

/** A program in C#, over the SDK in the namespace `sdk`. */
export function csharpText({ steps, configSecrets, outputs }: TypedProgram, sdk: string): string {
  const exported = outputs.map(([name, value]) => `[${quote(name)}] = ${valueText(value)}`);
  const body = [
    ...(configSecrets.length > 0 ? ["var config = new Config();"] : []),
    ...steps.map(statement),
    ...(exported.length > 0 ? [`return ${block("new Dictionary<string, object?>\n{", exported, "}", step)};`] : []),
  ].join("\n");
  return `using System.Collections.Generic;
using Pulumi;
using ServerlessCompute = ${sdk};

return await Deployment.RunAsync(() =>
{
${indent(body, step)}
});`;
}
