import { readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { lastLines, run } from "../child.mjs";
import { isMain, runScript } from "../entry.mjs";
import { publishedPackages } from "../generate/metadata.mjs";

/**
 * Publishes the npm packages of a release in dependency order. Skips versions that the registry already has, so that an
 * interrupted release can be repeated.
 * @param {string} folder Output of scripts/release/assets.mjs.
 * @param {object} [options]
 * @param {string[]} [options.flags] For `npm publish`: `--provenance`, `--dry-run`.
 * @param {NodeJS.ProcessEnv} [options.env]
 * @returns {Promise<{ file: string, done: "published" | "there already" }[]>}
 */
export async function publishPackages(folder, { flags = [], env = process.env } = {}) {
  const require = createRequire(import.meta.url);
  const order = publishedPackages.map((folder) => {
    const { name, version } = require(`../../${folder}/package.json`);
    return `${name}-${version}.tgz`;
  });
  const files = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  const missingFiles = order.filter((name) => !files.includes(name));
  if (missingFiles.length > 0) throw new Error(`${folder} has no ${missingFiles.join(", ")}; nothing is published`);
  const unexpectedFiles = files.filter((name) => !order.includes(name));
  /** @type {{ file: string, done: "published" | "there already" }[]} */
  const results = [];
  for (const file of [...order, ...unexpectedFiles]) {
    // Its error output identifies existing versions, so a surrounding silent npm must not suppress it.
    const args = ["publish", join(folder, file), "--access", "public", "--loglevel", "error", ...flags];
    const published = await run("npm", args, { env, cwd: folder });
    const isPublished = /cannot publish over|EPUBLISHCONFLICT/i.test(published.stderr);
    if (published.code !== 0 && !isPublished) throw new Error(`${file} was not published: ${lastLines(published, 12)}`);
    results.push({ file, done: isPublished ? "there already" : "published" });
  }
  return results;
}

const usage = "Usage: node scripts/release/publish.mjs <folder> [--provenance] [--dry-run]";

if (isMain(import.meta.url)) {
  await runScript(async () => {
    // A misspelled flag must not publish.
    const { values, positionals } = parseArgs({
      options: { provenance: { type: "boolean" }, "dry-run": { type: "boolean" } },
      allowPositionals: true,
    });
    const [folder] = positionals;
    if (folder === undefined) throw new Error(usage);
    const flags = Object.keys(values).map((name) => `--${name}`);
    for (const { file, done } of await publishPackages(resolve(folder), { flags })) console.log(`${file}: ${done}`);
    return 0;
  }, usage);
}
