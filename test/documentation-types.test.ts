import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readPages } from "../scripts/docs/pages.mjs";
import { typeFaults } from "./support/type-check";

// The compiler reads our packages and Pulumi's packages, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

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

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "documentation-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the TypeScript programs of all pages compile against the packages, and an invalid program does not", async () => {
  const blocks = readPages(root)
    .flatMap((page) => page.blocks)
    .filter(({ language, mark }) => mark === undefined && ["ts", "typescript"].includes(language));
  expect(blocks.length).toBeGreaterThan(8);
  const files = await Promise.all(
    blocks.map(async ({ page, line, text }) => {
      const blockFolder = join(folder, `${page.replaceAll("/", "-")}-${line}`);
      await mkdir(blockFolder);
      await writeFile(join(blockFolder, "index.ts"), programOf(text));
      return join(blockFolder, "index.ts");
    }),
  );
  const invalid = join(folder, "wrong.ts");
  await writeFile(invalid, programOf('new Template("chat", { imageName: 1, env: { TOKEN: token.referense } });'));
  const faults = typeFaults([...files, invalid], modules);
  const invalidProgram = faults.split("\n").filter((line) => line.includes("wrong.ts("));
  expect(invalidProgram).toHaveLength(2);
  expect(faults.split("\n").filter((line) => line !== "" && !invalidProgram.includes(line))).toEqual([]);
});
