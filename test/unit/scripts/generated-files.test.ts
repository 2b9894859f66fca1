import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "./fake-cli";

// The generator runs three times.
vi.setConfig({ testTimeout: 120_000 });

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Handwritten files with generated addresses. */
const manifests = ["api/package.json", "provider/package.json", "service/package.json"];
/** The parts of the repository that the generator reads. */
function repository(): string {
  const folder = temporaryFolder();
  const isSource = (path: string): boolean => !/(node_modules|dist)$/.test(path);
  for (const path of ["scripts", "tsconfig.base.json", "publisher.json", "api", "provider", "service/package.json"])
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: isSource });
  mkdirSync(join(folder, "docs"));
  for (const path of ["node_modules", "api/dist", "provider/dist", "service/dist"])
    symlinkSync(join(root, path), join(folder, path));
  return folder;
}

const run = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, [join("scripts", "generate", "generate.mjs"), ...args], {
    cwd: folder,
    encoding: "utf8",
  });

test("generate --check accepts the written files, reports each stale or missing one, and writes none", () => {
  const folder = repository();
  const { status, stdout, stderr } = run(folder);
  expect(status, stderr).toBe(0);
  const paths = [...stdout.matchAll(/^(\S+) is written\.$/gm)].map(([, path = ""]) => path);
  expect(paths).toEqual([
    "provider/generated/args.ts",
    "provider/generated/property-names.ts",
    "provider/generated/publication.ts",
    "schema.json",
    "docs/resources.md",
    "provider/THIRD-PARTY-NOTICES.txt",
    "docs/catalog.md",
    ...manifests,
  ]);
  expect(run(folder, "--check")).toMatchObject({ status: 0, stderr: "" });

  const [missing = "", ...others] = paths;
  rmSync(join(folder, missing));
  for (const path of others) appendFileSync(join(folder, path), "\n");
  const texts = others.map((path) => readFileSync(join(folder, path), "utf8"));
  const complaint = (path: string): string => `${path} is out of date. Run: npm run build && npm run generate\n`;
  expect(run(folder, "--check")).toMatchObject({ status: 1, stdout: "", stderr: paths.map(complaint).join("") });
  expect(existsSync(join(folder, missing))).toBe(false);
  expect(others.map((path) => readFileSync(join(folder, path), "utf8"))).toEqual(texts);
});

test("generate rejects any other argument, so that a mistyped --check does not write", () => {
  const folder = repository();
  expect(run(folder, "--chek")).toMatchObject({ status: 1, stderr: expect.stringContaining("--chek") });
  expect(existsSync(join(folder, "schema.json"))).toBe(false);
});
