import { sdkPackages } from "../../generated/publication";
import { camelCase } from "./identifiers";
import type { Expression, Program, ProgramResource } from "./program";
import { type Project, pulumiYaml } from "./project";
import { bracketed, quote } from "./text-layout";

const indentation = "  ";

const keyText = (key: string): string =>
  key === "__proto__" ? '["__proto__"]' : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key);

const objectText = (entries: readonly (readonly [string, Expression])[]): string =>
  bracketed(
    "{ ",
    entries.map(([key, value]) => `${keyText(key)}: ${valueText(value)}`),
    " }",
    indentation,
  );

function valueText(value: Expression): string {
  switch (value.type) {
    case "constant":
      return quote(value.value);
    case "list":
      return bracketed("[", value.items.map(valueText), "]", indentation);
    case "map":
      return value.entries.length === 0 ? "{}" : objectText(value.entries);
    case "output":
      return `${camelCase(value.resource)}.${value.output}`;
    case "config":
      return `config.requireSecret(${quote(value.key)})`;
  }
}

function statementOf({ kind, name, inputs, ignoreChanges }: ProgramResource): string {
  const options =
    ignoreChanges.length === 0
      ? ""
      : `, { ignoreChanges: ${bracketed("[", ignoreChanges.map(quote), "]", indentation)} }`;
  return `const ${camelCase(name)} = new serverless.${kind}(${quote(name)}, ${objectText(inputs)}${options});`;
}

function programText({ resources, config }: Program): string {
  return [
    ...(config.length > 0 ? ['import * as pulumi from "@pulumi/pulumi";'] : []),
    `import * as serverless from ${quote(sdkPackages.nodejs)};`,
    ...(config.length > 0 ? ["", "const config = new pulumi.Config();"] : []),
    ...resources.map((resource) => `\n${statementOf(resource)}`),
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
      // A parent folder with the package has the plugin.
      ...(project.plugin.startsWith("node_modules/") && { "pulumi-serverless-compute": project.version }),
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
    "Pulumi.yaml": pulumiYaml(project, " nodejs", program.config),
    "index.ts": programText(program),
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "tsconfig.json": `${JSON.stringify({ compilerOptions, files: ["index.ts"] }, null, 2)}\n`,
  };
}
