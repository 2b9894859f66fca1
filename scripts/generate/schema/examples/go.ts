import { goLiteral, indent, pascalCase, quote } from "../../../../provider/cli/project/text-layout";
import { objectKindNames } from "../../../../provider/resources";
import type { Entry, TypedProgram, TypedStep, TypedValue } from "./typed-program";

const pkg = "serverlesscompute";
const containers = {
  list: { text: "pulumi.StringArray", any: "pulumi.Array" },
  map: { text: "pulumi.StringMap", any: "pulumi.Map" },
};

function valueText(value: TypedValue): string {
  switch (value.type) {
    case "text":
      return `pulumi.String(${quote(value.text)})`;
    case "number":
      return `pulumi.${value.isInteger ? "Int" : "Float64"}(${value.value})`;
    case "flag":
      return `pulumi.Bool(${value.value})`;
    case "configSecret":
      return `cfg.RequireSecret(${quote(value.key)})`;
    case "reference":
      return referenceText(value);
    case "list":
      return `${containers.list[value.elementType]}{${value.items.map(valueText).join(", ")}}`;
    case "map":
      return literal(
        containers.map[value.elementType],
        value.entries.map(([key, item]) => [quote(key), item]),
      );
    case "object":
      return literal(`&${pkg}.${value.typeName}Args`, fields(value.entries));
  }
}

function referenceText({ step, property }: Extract<TypedValue, { type: "reference" }>): string {
  if (step.isLookup) return [step.variable, ...property.map((name) => `${pascalCase(name)}()`)].join(".");
  return [step.variable, ...property.map((name) => (name === "id" ? "ID()" : pascalCase(name)))].join(".");
}

const fields = (entries: Entry[]): Entry[] => entries.map(([name, value]) => [pascalCase(name), value]);

const literal = (type: string, entries: Entry[]): string =>
  goLiteral(
    type,
    entries.map(([key, value]) => ({ key, text: valueText(value) })),
  );

const objectLookups: readonly string[] = objectKindNames.map((kind) => `get${kind}`);

function statements(steps: TypedStep[]): string[] {
  let hasError = false;
  return steps.map(({ variable, member, isLookup, isUsed, args }) => {
    if (isLookup) {
      // The arguments of an object lookup leave the name to the function that reads its resource.
      const name = member.replace(/^get/, objectLookups.includes(member) ? "Lookup" : "Get");
      return `${variable} := ${pkg}.${name}Output(ctx, ${literal(`${pkg}.${name}OutputArgs`, fields(args))}, nil)`;
    }
    const operator = isUsed || !hasError ? ":=" : "=";
    hasError = true;
    const call = `${pkg}.New${member}(ctx, ${quote(variable)}, ${literal(`&${pkg}.${member}Args`, fields(args))})`;
    return `${isUsed ? variable : "_"}, err ${operator} ${call}\nif err != nil {\n\treturn err\n}`;
  });
}

/** A program in Go, over the SDK whose import path is `sdk`. */
export function goText({ steps, configSecrets, outputs }: TypedProgram, sdk: string): string {
  const imports = [
    sdk,
    "github.com/pulumi/pulumi/sdk/v3/go/pulumi",
    ...(configSecrets.length > 0 ? ["github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"] : []),
  ].sort();
  const body = [
    ...(configSecrets.length > 0 ? ['cfg := config.New(ctx, "")'] : []),
    ...statements(steps),
    ...outputs.map(([name, value]) => `ctx.Export(${quote(name)}, ${valueText(value)})`),
    "return nil",
  ].join("\n");
  return `package main

import (
${imports.map((path) => `\t${quote(path)}`).join("\n")}
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
${indent(body, "\t\t")}
	})
}`;
}
