import { z } from "zod";
import { propertyOf } from "../../framework/properties/schema";
import { sdkPackages } from "../../generated/publication";
import { objectKinds } from "../../resources";
import { camelCase } from "./identifiers";
import type { Expression, Program, ProgramResource } from "./program";
import { type Project, pulumiYaml } from "./project";
import { goLiteral, indent, pascalCase, quote } from "./text-layout";

/** A value of an input; `isInteger` selects the type of numbers. Lists and maps of an object's inputs contain texts. */
function valueText(value: Expression, isInteger: boolean): string {
  switch (value.type) {
    case "constant": {
      if (typeof value.value === "string") return `pulumi.String(${quote(value.value)})`;
      if (typeof value.value === "boolean") return `pulumi.Bool(${value.value})`;
      return `pulumi.${isInteger ? "Int" : "Float64"}(${value.value})`;
    }
    case "list":
      return `pulumi.StringArray{${value.items.map((item) => valueText(item, isInteger)).join(", ")}}`;
    case "map":
      return goLiteral(
        "pulumi.StringMap",
        value.entries.map(([key, item]) => ({ key: quote(key), text: valueText(item, isInteger) })),
      );
    case "output":
      return `${camelCase(value.resource)}.${value.output === "id" ? "ID()" : pascalCase(value.output)}`;
    case "config":
      return `cfg.RequireSecret(${quote(value.key)})`;
  }
}

function constructorCall({ kind, name, inputs, ignoreChanges }: ProgramResource): string {
  const { shape } = objectKinds[kind].inputs;
  const fields = inputs.map(([key, value]) => {
    const schema = shape[key];
    const isWhole = schema !== undefined && propertyOf(schema).inner instanceof z.ZodNumberFormat;
    return { key: pascalCase(key), text: valueText(value, isWhole) };
  });
  const options =
    ignoreChanges.length === 0 ? "" : `, pulumi.IgnoreChanges([]string{${ignoreChanges.map(quote).join(", ")}})`;
  return `serverless.New${kind}(ctx, ${quote(name)}, ${goLiteral(`&serverless.${kind}Args`, fields)}${options})`;
}

/** Names of resources that others refer to; Go rejects variables without a use. */
function referencedResources(value: Expression): string[] {
  if (value.type === "output") return [value.resource];
  if (value.type === "list") return value.items.flatMap(referencedResources);
  return value.type === "map" ? value.entries.flatMap(([, item]) => referencedResources(item)) : [];
}

function programText({ resources, config }: Program): string {
  const referenced = new Set(
    resources.flatMap(({ inputs }) => inputs.flatMap(([, value]) => referencedResources(value))),
  );
  const statements = resources.map((resource, index) => {
    const isUsed = referenced.has(resource.name);
    const operator = isUsed || index === 0 ? ":=" : "=";
    return `${isUsed ? camelCase(resource.name) : "_"}, err ${operator} ${constructorCall(resource)}\nif err != nil {\n\treturn err\n}`;
  });
  const imports = [
    `"github.com/pulumi/pulumi/sdk/v3/go/pulumi"`,
    ...(config.length > 0 ? [`"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"`] : []),
    `serverless ${quote(sdkPackages.go)}`,
  ];
  const body = [...(config.length > 0 ? [`cfg := config.New(ctx, "")`] : []), ...statements, "return nil"].join("\n");
  return `package main

import (
${indent(imports.join("\n"), "\t")}
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
${indent(body, "\t\t")}
	})
}
`;
}

/** A project in Go with the SDK of the plugin: its files by their names. Go rejects some names of projects as modules, such as `go`. */
export const goProject = (program: Program, project: Project): Record<string, string> => ({
  "Pulumi.yaml": pulumiYaml(project, " go", program.config),
  "main.go": programText(program),
  "go.mod": `module program

go 1.25

require ${sdkPackages.go} v0.0.0

replace ${sdkPackages.go} => ./sdks/go
`,
});
