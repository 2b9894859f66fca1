import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isMain, root, runScript } from "../entry.mjs";
import { publishedPackages } from "../generate/metadata.mjs";
import { readPublisher } from "../publisher.mjs";

/**
 * Reasons why the repository cannot be published; empty if it can.
 * @param {object} release
 * @param {import("../publisher.mjs").Publisher} release.publisher
 * @param {string | undefined} release.repository The repository that the release runs in, `owner/name`.
 * @param {string | undefined} release.tag `v<version>`.
 * @param {Record<string, { version: string, repository?: unknown }>} release.manifests package.json of each package, by
 * folder.
 * @param {string} release.changelog
 * @returns {string[]}
 */
export function releaseObstacles({ publisher, repository, tag, manifests, changelog }) {
  const obstacles = [];
  const [version = ""] = Object.values(manifests).map((manifest) => manifest.version);
  if (publisher.repository === null || publisher.publisher === null) {
    obstacles.push("publisher.json names no repository or no publisher: set both, then run npm run generate");
  } else if (repository !== undefined && repository !== publisher.repository) {
    obstacles.push(
      `publisher.json names the repository ${publisher.repository}, but the release runs in ${repository}`,
    );
  }
  for (const [folder, manifest] of Object.entries(manifests)) {
    const expected = tag ?? `v${version}`;
    if (expected !== `v${manifest.version}`) {
      obstacles.push(`the release is ${expected}, but ${folder}/package.json has version ${manifest.version}`);
    }
    if (publisher.repository !== null && manifest.repository === undefined) {
      obstacles.push(`${folder}/package.json has no repository: run npm run generate`);
    }
  }
  const heading = new RegExp(`^## ${version.replaceAll(".", "\\.")} - \\d{4}-\\d{2}-\\d{2}$`, "m");
  if (!heading.test(changelog)) {
    obstacles.push(`CHANGELOG.md has no heading "## ${version} - <date>": npm run release:version writes it`);
  }
  return obstacles;
}

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const { tag, repository } = parseArgs({
      options: { tag: { type: "string" }, repository: { type: "string" } },
    }).values;
    const require = createRequire(import.meta.url);
    const manifests = publishedPackages.map((folder) => [folder, require(join(root, folder, "package.json"))]);
    const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
    const publisher = readPublisher();
    const obstacles = releaseObstacles({
      publisher,
      repository,
      tag,
      manifests: Object.fromEntries(manifests),
      changelog,
    });
    if (obstacles.length > 0)
      throw new Error(`nothing is published:\n${obstacles.map((manifest) => `- ${manifest}`).join("\n")}`);
    return 0;
  });
}
