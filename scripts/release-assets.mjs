import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { archivePlugin } from "./archive-plugin.mjs";
import { lastLines, run } from "./child.mjs";
import { root, runScript } from "./entry.mjs";

/** The three packages; all have the version of the release. */
const packages = ["api", "provider", "service"];

/** What `pulumi plugin install` asks a release for, by the machine it runs on. */
const platforms = /** @type {const} */ (["linux", "darwin", "windows"]).flatMap((os) =>
  /** @type {const} */ (["amd64", "arm64"]).map((arch) => ({ os, arch })),
);

/** The file of checksums, as `sha256sum --check` reads it. */
const checksums = "SHA256SUMS";

/**
 * Makes everything that is attached to a release, of packages that are built (`npm run build`): the plugin for each
 * platform, the npm packages, the schema, and the checksums of all of them.
 * @param {string} target An empty or missing folder.
 * @param {string} [tag] The release's tag, `v<version>`; another version in a package is refused.
 * @returns {Promise<string[]>} The names of the files in it.
 */
export async function makeReleaseAssets(target, tag) {
  const require = createRequire(import.meta.url);
  for (const name of packages) {
    const { version } = require(`../${name}/package.json`);
    if (tag !== undefined && tag !== `v${version}`) {
      throw new Error(`the tag is ${tag}, but ${name}/package.json has version ${version}: its tag is v${version}`);
    }
  }
  await mkdir(target, { recursive: true });
  const there = await readdir(target);
  if (there.length > 0) throw new Error(`${target} is not empty: name a folder that only this release will be in`);

  for (const platform of platforms) await archivePlugin(target, platform);
  await copyFile(join(root, "schema.json"), join(target, "schema.json"));
  const args = ["pack", ...packages.map((name) => `./${name}`), "--silent", "--pack-destination", target];
  const packed = await run("npm", args, { cwd: root });
  if (packed.code !== 0) throw new Error(`the packages could not be packed: ${lastLines(packed)}`);

  const names = (await readdir(target)).sort();
  const lines = names.map(async (name) => {
    const sum = createHash("sha256").update(await readFile(join(target, name)));
    return `${sum.digest("hex")}  ${basename(name)}\n`;
  });
  await writeFile(join(target, checksums), (await Promise.all(lines)).join(""));
  return [...names, checksums];
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runScript(async () => {
    const [target, tag] = process.argv.slice(2);
    if (target === undefined) throw new Error("Usage: node scripts/release-assets.mjs <folder> [<tag>]");
    for (const name of await makeReleaseAssets(target, tag)) console.log(name);
    return 0;
  });
}
