import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { releaseVersion, withVersion } from "../../../scripts/release/version.mjs";
import { scratchFolder } from "../../support/folders";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const packages = ["api", "provider", "service"];
const examples = ["yaml", "python", "typescript-plugin"].map((name) => `examples/${name}/Pulumi.yaml`);

/** The files of the repository that contain a version. */
function repository(): string {
  const folder = scratchFolder();
  const files = ["package.json", "package-lock.json", ".changeset/config.json", "CHANGELOG.md", "docs/plugin.md"];
  const manifests = packages.map((name) => `${name}/package.json`);
  for (const path of [...files, ...manifests, ...examples]) cpSync(join(root, path), join(folder, path));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

const manifestOf = (folder: string, name: string) =>
  JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8"));
const { version: current } = manifestOf(root, "api");

test("a changeset for one package sets the next version of all three packages in every file that contains it", async () => {
  const folder = repository();
  writeFileSync(
    join(folder, ".changeset", "new.md"),
    '---\n"serverless-compute-local": minor\n---\n\nSomething new.\n',
  );
  const { before, after } = await releaseVersion({ folder, date: "2026-11-22" });
  const [major = "", minor = ""] = current.split(".");
  expect({ before, after }).toEqual({ before: current, after: `${major}.${Number(minor) + 1}.0` });

  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  for (const name of packages) {
    const { version, dependencies } = manifestOf(folder, name);
    expect(version, name).toBe(after);
    expect(dependencies["serverless-compute-api"] ?? after, name).toBe(after);
    expect(lock.packages[name], name).toMatchObject({ version, dependencies });
  }
  expect(readFileSync(join(folder, "CHANGELOG.md"), "utf8")).toMatch(
    new RegExp(`^# Changelog\n\n## Unreleased\n\n## ${after} - 2026-11-22\n\n### `),
  );
  for (const path of examples) {
    expect(readFileSync(join(folder, path), "utf8"), path).toContain(`      version: ${after}\n`);
  }
  const plugin = readFileSync(join(folder, "docs", "plugin.md"), "utf8");
  expect(plugin).toContain(`pulumi-resource-serverless-compute-v${after}-linux-amd64.tar.gz`);
  expect(plugin).not.toContain(`version: ${current}`);
});

test("without a changeset nothing changes", async () => {
  const folder = repository();
  expect(await releaseVersion({ folder })).toEqual({ before: current, after: current });
  expect(readFileSync(join(folder, "CHANGELOG.md"), "utf8")).toBe(readFileSync(join(root, "CHANGELOG.md"), "utf8"));
});

test("other versions in the same files are unchanged", () => {
  const text = "The state of 0.1.0 stays; so do undici 0.1.0, serverless-compute-v0.1.01 and version: 0.1.0.1.";
  expect(withVersion(text, "0.1.0", "0.2.0")).toBe(text);
  expect(withVersion("serverless-compute-api@0.1.0 version: 0.1.0", "0.1.0", "0.2.0")).toBe(
    "serverless-compute-api@0.2.0 version: 0.2.0",
  );
});
