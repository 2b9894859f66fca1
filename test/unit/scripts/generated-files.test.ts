import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { scratchFolder } from "../../support/folders";

// The generator runs twice.
vi.setConfig({ testTimeout: 120_000 });

const root = fileURLToPath(new URL("../../..", import.meta.url));
const paths = [
  "provider/generated/args.ts",
  "provider/generated/property-names.ts",
  "provider/generated/publication.ts",
  "schema.json",
  "docs/resources/README.md",
  "docs/resources/secret.md",
  "docs/resources/network-volume.md",
  "docs/resources/container-registry-auth.md",
  "docs/resources/template.md",
  "docs/resources/serverless-endpoint.md",
  "docs/resources/job-invoke.md",
  "docs/resources/verified-endpoint.md",
  "docs/resources/lookups.md",
  "docs/resources/settings.md",
  "provider/THIRD-PARTY-NOTICES.txt",
  "docs/service-options.md",
  "docs/performance.md",
  "docs/catalog.md",
  "README.md",
  "docs/start/README.md",
  "docs/start/typescript.md",
  "docs/start/python.md",
  "docs/start/go.md",
  "docs/start/yaml.md",
  "docs/guides/python-worker.md",
  "docs/guides/call-your-endpoint.md",
  "api/package.json",
  "provider/package.json",
  "service/package.json",
];
/** A copy of the files and folders that the generator reads and compiles. */
function repository(): string {
  const folder = scratchFolder();
  const isCopied = (path: string): boolean => !path.endsWith("node_modules");
  const packages = ["api", "provider", "service"];
  for (const path of [
    "scripts",
    "bench",
    "tsconfig.json",
    "tsconfig.base.json",
    "publisher.json",
    ...packages,
    ...paths,
  ])
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: isCopied, preserveTimestamps: true });
  const installed = ["node_modules", ...packages.map((name) => `${name}/node_modules`)];
  for (const path of installed.filter((path) => existsSync(join(root, path))))
    symlinkSync(join(root, path), join(folder, path));
  return folder;
}

const run = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, [join("scripts", "generate", "generate.mjs"), ...args], {
    cwd: folder,
    encoding: "utf8",
  });

test("generate --check reports each stale or missing file and writes none, as does a mistyped option; generate writes them", () => {
  const folder = repository();
  const texts = () => paths.map((path) => readFileSync(join(folder, path), "utf8"));
  const committed = texts();
  const [missing = "", ...others] = paths;
  rmSync(join(folder, missing));
  // Only the install commands and the tables of deployments of these pages are generated.
  const outdated = (path: string, text: string): string =>
    /^(docs\/(start|guides)\/.*|docs\/performance\.md|README\.md)$/.test(path)
      ? text.replace("npm run add --", "npm run sub --").replace("| resources | provider |", "| resources | by |")
      : `${text}\n`;
  const outdatedTexts = others.map((path, index) => outdated(path, committed[index + 1] ?? ""));
  for (const [index, path] of others.entries()) writeFileSync(join(folder, path), outdatedTexts[index] ?? "");
  const complaint = (path: string): string => `${path} is out of date. Run: npm run generate\n`;
  expect(run(folder, "--check")).toMatchObject({ status: 1, stdout: "", stderr: paths.map(complaint).join("") });
  expect(run(folder, "--chek")).toMatchObject({ status: 1, stderr: expect.stringContaining("--chek") });
  expect(existsSync(join(folder, missing))).toBe(false);
  expect(others.map((path) => readFileSync(join(folder, path), "utf8"))).toEqual(outdatedTexts);
  expect(run(folder)).toMatchObject({ status: 0, stderr: "" });
  expect(texts()).toEqual(committed);
});
