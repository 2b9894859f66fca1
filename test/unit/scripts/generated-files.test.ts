import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "./fake-cli";

// Each of them runs the generator two or three times.
vi.setConfig({ testTimeout: 120_000 });

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Handwritten files with generated addresses. */
const manifests = ["api/package.json", "provider/package.json", "service/package.json"];
/** The parts of the repository that the generator reads, without the files that it writes. */
function repository(): string {
  const folder = temporaryFolder();
  for (const path of ["api", "provider/generated", "service", "docs", ".github"]) {
    mkdirSync(join(folder, path), { recursive: true });
  }
  for (const path of ["scripts", "publisher.json", ...manifests]) {
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  for (const path of ["cli", "functions", "lifecycle", "resources", "settings"])
    cpSync(join(root, "provider", path), join(folder, "provider", path), { recursive: true });
  for (const path of ["node_modules", "api/dist", "provider/dist", "service/dist"])
    symlinkSync(join(root, path), join(folder, path));
  return folder;
}

const run = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, [join("scripts", "generate", "generate.mjs"), ...args], {
    cwd: folder,
    encoding: "utf8",
  });

describe("generate --check", () => {
  /** A repository with the generated files, and their paths. */
  const written = () => {
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
      "docs/catalog.md",
      "docs/code-blocks.md",
      ...manifests,
      ".github/CODEOWNERS",
    ]);
    return { folder, paths };
  };

  test("accepts its own output", () => {
    const { folder } = written();
    expect(run(folder, "--check")).toMatchObject({ status: 0, stderr: "" });
  });

  test("fails on each stale or missing file, and writes none", () => {
    const { folder, paths } = written();
    const texts = paths.map((path) => readFileSync(join(folder, path), "utf8"));
    for (const [index, path] of paths.entries()) writeFileSync(join(folder, path), `${texts[index]}\n`);
    const stale = run(folder, "--check");
    expect(stale).toMatchObject({ status: 1, stdout: "" });
    const complaint = (path: string): string => `${path} is out of date. Run: npm run build && npm run generate\n`;
    expect(stale.stderr).toBe(paths.map(complaint).join(""));
    expect(paths.map((path) => readFileSync(join(folder, path), "utf8"))).toEqual(texts.map((text) => `${text}\n`));
    const whole = paths.filter((path) => !manifests.includes(path));
    for (const path of whole) rmSync(join(folder, path));
    expect(run(folder, "--check")).toMatchObject({ status: 1, stderr: stale.stderr });
    for (const path of whole) expect(() => readFileSync(join(folder, path))).toThrow("ENOENT");
  });

  test("rejects any other argument, so that a mistyped --check does not write", () => {
    const { folder, paths } = written();
    for (const path of paths) writeFileSync(join(folder, path), "mine");
    const refused = run(folder, "--chek");
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/--chek/);
    for (const path of paths) expect(readFileSync(join(folder, path), "utf8")).toBe("mine");
  });
});
