import { sdkPackages } from "../../generated/publication";
import { camelCase } from "./identifiers";
import type { Expression, Program, ProgramResource } from "./program";
import { type Project, pulumiYaml } from "./project";
import { bracketed, quoted } from "./text-layout";

const step = "  ";

const keyText = (key: string): string =>
  key === "__proto__" ? '["__proto__"]' : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key);

const objectText = (entries: readonly (readonly [string, Expression])[]): string =>
  bracketed(
    "{ ",
    entries.map(([key, value]) => `${keyText(key)}: ${valueText(value)}`),
    " }",
    step,
  );

function valueText(value: Expression): string {
  switch (value.is) {
    case "constant":
      return JSON.stringify(value.value);
    case "list":
      return bracketed("[", value.items.map(valueText), "]", step);
    case "map":
      return value.entries.length === 0 ? "{}" : objectText(value.entries);
    case "output":
      return `${camelCase(value.resource)}.${value.output}`;
    case "config":
      return `config.requireSecret(${quoted(value.key)})`;
  }
}

function statement({ kind, name, inputs, ignoreChanges }: ProgramResource): string {
  const options =
    ignoreChanges.length === 0 ? "" : `, { ignoreChanges: ${bracketed("[", ignoreChanges.map(quoted), "]", step)} }`;
  return `const ${camelCase(name)} = new serverless.${kind}(${quoted(name)}, ${objectText(inputs)}${options});`;
}

function programText({ resources, config }: Program): string {
  return [
    ...(config.length > 0 ? ['import * as pulumi from "@pulumi/pulumi";'] : []),
    `import * as serverless from ${quoted(sdkPackages.nodejs)};`,
    ...(config.length > 0 ? ["", "const config = new pulumi.Config();"] : []),
    ...resources.map((resource) => `\n${statement(resource)}`),
    "",
  ].join("\n");
}

/** A project in TypeScript with the SDK of the plugin: its files by their names. */
export function typescriptProject(program: Program, project: Project): Record<string, string> {
  const manifest = {
    name: project.name,
    private: true,
    main: "index.ts",
    dependencies: {
      "@pulumi/pulumi": "^3.200.0",
      "pulumi-serverless-compute": project.version,
      [sdkPackages.nodejs]: "file:sdks/nodejs",
    },
    devDependencies: { "@types/node": "^20", typescript: "^5.0.0" },
  };
  const compilerOptions = {
    target: "es2022",
    module: "node16",
    moduleResolution: "node16",
    types: ["node"],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  };
  return {
    "Pulumi.yaml": pulumiYaml(project, " nodejs"),
    "index.ts": programText(program),
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "tsconfig.json": `${JSON.stringify({ compilerOptions, files: ["index.ts"] }, null, 2)}\n`,
  };
}
