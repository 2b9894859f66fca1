import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { type Block, readPages } from "../scripts/docs/pages.mjs";
import { scratchFolder } from "./support/folders";
import { typeFaults } from "./support/type-check";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = {
  "pulumi-serverless-compute": join(root, "provider", "index.ts"),
  "serverless-compute-api": join(root, "api", "index.ts"),
  "serverless-compute-local": join(root, "service", "index.ts"),
  vitest: join(root, "node_modules", "vitest"),
};

/** Names that a partial program in a page may use without declaring them. */
const declaredNames: Record<string, string> = {
  config: "declare const config: pulumi.Config;",
  token: "declare const token: compute.Secret;",
  models: "declare const models: compute.NetworkVolume;",
  template: "declare const template: compute.Template;",
  endpoint: "declare const endpoint: compute.ServerlessEndpoint;",
  pulumi: 'import * as pulumi from "@pulumi/pulumi";',
};
const exported =
  /\b(Template|ServerlessEndpoint|NetworkVolume|Secret|ContainerRegistryAuth|JobInvoke|invokeJob|get(?:Template|ServerlessEndpoint|NetworkVolume|ContainerRegistryAuth|Secret|GpuTypes|DataCenters|EndpointHealth))\b/g;

/** Completes a block to a program: a partial program receives the imports and the resources that it uses. */
function programOf(text: string): string {
  const declares = (name: string): boolean =>
    new RegExp(
      `\\b(const|let|import \\* as) ${name}\\b|\\bconst [[{][^\\]}]*\\b${name}\\b[^\\]}]*[\\]}] =|import \\{[^}]*\\b${name}\\b`,
    ).test(text);
  const uses = (name: string): boolean => new RegExp(`(?<![.\\w"'/])${name}\\b(?!: )`).test(text) && !declares(name);
  const names = [...new Set([...text.matchAll(exported)].map(([name]) => name))].filter((name) => !declares(name));
  const imports = names.length > 0 ? [`import { ${names.join(", ")} } from "pulumi-serverless-compute";`] : [];
  const objects = Object.entries(declaredNames).flatMap(([name, line]) => (uses(name) ? [line] : []));
  const lines = [...imports, ...objects];
  if (
    lines.some((line) => line.includes("pulumi.")) &&
    !declares("pulumi") &&
    !lines.includes(declaredNames["pulumi"] ?? "")
  )
    lines.unshift(declaredNames["pulumi"] ?? "");
  if (lines.some((line) => line.includes("compute.")))
    lines.unshift('import type * as compute from "pulumi-serverless-compute";');
  return [...lines, text, "export {};", ""].join("\n");
}

const folder = scratchFolder(afterAll);

const blocks = readPages(root).flatMap((page) => page.blocks);

/** Writes the blocks and an invalid program to the folder, and returns the faults of all. */
async function faultsOf(programs: Block[], extension: "mjs" | "ts", invalid: string): Promise<string[]> {
  expect(programs.length).toBeGreaterThan(8);
  const texts = programs.map(({ page, line, text }): [name: string, text: string] => [
    `${page.replaceAll("/", "-")}-${line}.${extension}`,
    extension === "ts" ? programOf(text) : text,
  ]);
  texts.push([`wrong.${extension}`, invalid]);
  await Promise.all(texts.map(([name, text]) => writeFile(join(folder, name), text)));
  const names = texts.map(([name]) => name);
  return typeFaults(folder, names, modules);
}

test("the TypeScript programs of all pages compile against the packages, and an invalid program does not", async () => {
  const programs = blocks.filter(({ language, mark }) => mark === undefined && ["ts", "typescript"].includes(language));
  const invalid = programOf('new Template("chat", { imageName: 1, env: { TOKEN: token.referense } });');
  expect(await faultsOf(programs, "ts", invalid)).toEqual([
    expect.stringMatching(/^wrong.ts.* 'number' is not assignable/),
    expect.stringMatching(/^wrong.ts.* 'referense' does not exist/),
  ]);
});

test("the JavaScript programs of all pages can be parsed, and an invalid program cannot", async () => {
  const programs = blocks.filter(({ language }) => language === "js");
  expect(await faultsOf(programs, "mjs", "export default (")).toEqual([
    expect.stringMatching(/^wrong.mjs.* Expression expected/),
  ]);
});
