import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastLines, run } from "../child.mjs";
import { pagePaths } from "../docs/pages.mjs";
import { isMain, root, runScript } from "../entry.mjs";
import { publishedPackages } from "../generate/metadata.mjs";

/**
 * Applies the version required by the changesets to the packages, the lockfile, the changelog, the examples and the
 * pages. Files generated from the version are written by `npm run generate`.
 * @param {object} [options]
 * @param {string} [options.folder] The repository.
 * @param {string} [options.date] Release date, such as 2026-11-22.
 * @returns {Promise<{ before: string, after: string }>} The versions; equal without a changeset.
 */
export async function releaseVersion({ folder = root, date = new Date().toISOString().slice(0, 10) } = {}) {
  /** @param {string} path */
  const read = (path) => readFileSync(join(folder, path), "utf8");
  /** @param {string} path @param {(text: string) => string} change */
  const rewrite = (path, change) => writeFileSync(join(folder, path), change(read(path)));
  const currentVersion = () => JSON.parse(read("api/package.json")).version;

  const before = currentVersion();
  const changeset = join(folder, "node_modules", "@changesets", "cli", "bin.js");
  const finished = await run(process.execPath, [changeset, "version"], { cwd: folder });
  if (finished.code !== 0) throw new Error(`changeset version failed: ${lastLines(finished)}`);
  const after = currentVersion();
  if (before === after) return { before, after };

  rewrite("package-lock.json", (text) => {
    const lock = JSON.parse(text);
    for (const path of publishedPackages) {
      const { version, dependencies } = JSON.parse(read(`${path}/package.json`));
      Object.assign(lock.packages[path], { version, dependencies });
    }
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
  rewrite("CHANGELOG.md", (text) => text.replace("## Unreleased\n", `## Unreleased\n\n## ${after} - ${date}\n`));
  const projects = readdirSync(join(folder, "examples")).map((name) => `examples/${name}/Pulumi.yaml`);
  for (const path of [...projects.filter((project) => existsSync(join(folder, project))), ...pagePaths(folder)]) {
    rewrite(path, (text) => withVersion(text, before, after));
  }
  return { before, after };
}

/**
 * Replaces the version where a reader would copy it: in a project's file, a command, a file name.
 * @param {string} text
 * @param {string} before
 * @param {string} after
 */
export function withVersion(text, before, after) {
  const previousVersion = before.replaceAll(".", "\\.");
  return text.replace(
    new RegExp(`(\\bversion: |serverless-compute[a-z-]*(?: |@|-v?))${previousVersion}(?![\\w]|\\.\\d)`, "g"),
    `$1${after}`,
  );
}

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const { before, after } = await releaseVersion();
    console.log(before === after ? `There is no changeset: the version stays ${before}.` : `${before} -> ${after}`);
    return 0;
  });
}
