import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root, runScript } from "../entry.mjs";

/**
 * The changelog section of a version, for its release notes.
 * @param {string} changelog
 * @param {string} version
 */
export function changesOf(changelog, version) {
  const parts = changelog.split(/^## /m);
  const part = parts.find((one) => one.startsWith(`${version} - `));
  if (part === undefined) throw new Error(`CHANGELOG.md has no heading "## ${version} - <date>"`);
  return `${part.slice(part.indexOf("\n")).trim()}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runScript(async () => {
    const [tag = ""] = process.argv.slice(2);
    process.stdout.write(changesOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"), tag.replace(/^v/, "")));
    return 0;
  });
}
