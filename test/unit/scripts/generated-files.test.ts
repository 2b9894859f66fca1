import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "./fake-cli";

// The generator runs twice.
vi.setConfig({ testTimeout: 120_000 });

const root = fileURLToPath(new URL("../../..", import.meta.url));
const paths = [
  "provider/generated/args.ts",
  "provider/generated/property-names.ts",
  "provider/generated/publication.ts",
  "schema.json",
  "docs/resources.md",
  "provider/THIRD-PARTY-NOTICES.txt",
  "docs/catalog.md",
  "api/package.json",
  "provider/package.json",
  "service/package.json",
];
/** Files and folders that the generator reads. */
function repository(): string {
  const folder = temporaryFolder();
  const isSource = (path: string): boolean => !/(node_modules|dist)$/.test(path);
  for (const path of ["scripts", "tsconfig.base.json", "publisher.json", "api", "provider", ...paths])
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: isSource });
  const installed = ["node_modules", "api/node_modules", "provider/node_modules"].filter((path) =>
    existsSync(join(root, path)),
  );
  for (const path of [...installed, "api/dist", "provider/dist", "service/dist"])
    symlinkSync(join(root, path), join(folder, path));
  return folder;
}

const run = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, [join("scripts", "generate", "generate.mjs"), ...args], {
    cwd: folder,
    encoding: "utf8",
  });

test("generate --check reports each stale or missing file and writes none; generate writes them", () => {
  const folder = repository();
  const texts = () => paths.map((path) => readFileSync(join(folder, path), "utf8"));
  const committed = texts();
  const [missing = "", ...others] = paths;
  rmSync(join(folder, missing));
  for (const path of others) appendFileSync(join(folder, path), "\n");
  const complaint = (path: string): string => `${path} is out of date. Run: npm run build && npm run generate\n`;
  expect(run(folder, "--check")).toMatchObject({ status: 1, stdout: "", stderr: paths.map(complaint).join("") });
  expect(existsSync(join(folder, missing))).toBe(false);
  expect(others.map((path) => readFileSync(join(folder, path), "utf8"))).toEqual(
    committed.slice(1).map((text) => `${text}\n`),
  );
  expect(run(folder)).toMatchObject({ status: 0, stderr: "" });
  expect(texts()).toEqual(committed);
});

test("generate rejects any other argument, so that a mistyped --check does not write", () => {
  const folder = repository();
  rmSync(join(folder, "schema.json"));
  expect(run(folder, "--chek")).toMatchObject({ status: 1, stderr: expect.stringContaining("--chek") });
  expect(existsSync(join(folder, "schema.json"))).toBe(false);
});
