import { z } from "zod";
import { sdkPackages } from "../../generated/publication";
import { propertyOf } from "../../lifecycle/properties/schema";
import { objectKinds } from "../../resources";
import { camelCase } from "./identifiers";
import type { Expression, Program, ProgramResource } from "./program";
import { type Project, pulumiYaml } from "./project";
import { goLiteral, indented, pascalCase, quoted } from "./text-layout";

/** A value of an input; `whole` selects the type of numbers. Lists and maps of an object's inputs contain texts. */
function valueText(value: Expression, whole: boolean): string {
  switch (value.is) {
    case "constant": {
      if (typeof value.value === "string") return `pulumi.String(${quoted(value.value)})`;
      if (typeof value.value === "boolean") return `pulumi.Bool(${value.value})`;
      return `pulumi.${whole ? "Int" : "Float64"}(${value.value})`;
    }
    case "list":
      return `pulumi.StringArray{${value.items.map((one) => valueText(one, whole)).join(", ")}}`;
    case "map":
      return goLiteral(
        "pulumi.StringMap",
        value.entries.map(([key, one]) => ({ key: quoted(key), text: valueText(one, whole) })),
      );
    case "output":
      return `${camelCase(value.resource)}.${value.output === "id" ? "ID()" : pascalCase(value.output)}`;
    case "config":
      return `cfg.RequireSecret(${quoted(value.key)})`;
  }
}

function callOf({ kind, name, inputs, ignoreChanges }: ProgramResource): string {
  const { shape } = objectKinds[kind].inputs;
  const fields = inputs.map(([key, value]) => {
    const schema = shape[key];
    const isWhole = schema !== undefined && propertyOf(schema).inner instanceof z.ZodNumberFormat;
    return { key: pascalCase(key), text: valueText(value, isWhole) };
  });
  const options =
    ignoreChanges.length === 0 ? "" : `, pulumi.IgnoreChanges([]string{${ignoreChanges.map(quoted).join(", ")}})`;
  return `serverless.New${kind}(ctx, ${quoted(name)}, ${goLiteral(`&serverless.${kind}Args`, fields)}${options})`;
}

/** Names of resources that others refer to; Go rejects variables without a use. */
function usedIn(value: Expression): string[] {
  if (value.is === "output") return [value.resource];
  if (value.is === "list") return value.items.flatMap(usedIn);
  return value.is === "map" ? value.entries.flatMap(([, one]) => usedIn(one)) : [];
}

function programText({ resources, config }: Program): string {
  const used = new Set(resources.flatMap(({ inputs }) => inputs.flatMap(([, value]) => usedIn(value))));
  const statements = resources.map((resource, index) => {
    const isUsed = used.has(resource.name);
    const sign = isUsed || index === 0 ? ":=" : "=";
    return `${isUsed ? camelCase(resource.name) : "_"}, err ${sign} ${callOf(resource)}\nif err != nil {\n\treturn err\n}`;
  });
  const imports = [
    `"github.com/pulumi/pulumi/sdk/v3/go/pulumi"`,
    ...(config.length > 0 ? [`"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"`] : []),
    `serverless ${quoted(sdkPackages.go)}`,
  ];
  const body = [...(config.length > 0 ? [`cfg := config.New(ctx, "")`] : []), ...statements, "return nil"].join("\n");
  return `package main

import (
${indented(imports.join("\n"), "\t")}
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
${indented(body, "\t\t")}
	})
}
`;
}

/** A project in Go with the SDK of the plugin: its files by their names. */
export const goProject = (program: Program, project: Project): Record<string, string> => ({
  "Pulumi.yaml": pulumiYaml(project, " go"),
  "main.go": programText(program),
  "go.mod": `module ${project.name}

go 1.25

require ${sdkPackages.go} v0.0.0

replace ${sdkPackages.go} => ./sdks/go
`,
});
