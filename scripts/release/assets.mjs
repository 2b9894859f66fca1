import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { run } from "../child.mjs";
import { isMain, root, runScript } from "../entry.mjs";
import { publishedPackages } from "../generate/metadata.mjs";
import { archivePlugin } from "./archive-plugin.mjs";
import { billOfMaterials } from "./bill-of-materials.mjs";
import { archiveExecutable } from "./executable.mjs";
import { packPackages } from "./npm-packages.mjs";
import { completeSdk, packNodeSdk } from "./sdk-packages.mjs";

/** Plugin archives of a release, by platform. */
const platforms = /** @type {const} */ (["linux", "darwin", "windows"]).flatMap((os) =>
  /** @type {const} */ (["amd64", "arm64"]).map((arch) => ({ os, arch })),
);

/**
 * Writes all assets of a release from built packages (`npm run build`): the plugin for each platform, the npm packages
 * with their bills of materials, the schema, the SDKs, and the checksums of all.
 * @param {string} target An empty or missing folder.
 * @param {object} [options]
 * @param {string} [options.sdks] A folder with a generated SDK per language (scripts/generate/sdks.mjs). Each is packed
 * to an archive, and Node's also to the npm package.
 * @param {boolean} [options.executables] Puts the executable into the archives for Linux; otherwise they contain
 * JavaScript, like the others.
 * @returns {Promise<string[]>} File names in the folder.
 */
export async function makeReleaseAssets(target, { sdks, executables = false } = {}) {
  const require = createRequire(import.meta.url);
  const { version } = require("../../provider/package.json");
  await mkdir(target, { recursive: true });
  const existing = await readdir(target);
  if (existing.length > 0) throw new Error(`${target} is not empty: name a new folder for this release`);

  for (const platform of platforms) {
    if (executables && platform.os === "linux") await archiveExecutable(target, platform.arch);
    else await archivePlugin(target, platform);
  }
  await copyFile(join(root, "schema.json"), join(target, "schema.json"));
  await packPackages(target);
  for (const folder of publishedPackages) {
    const { name } = require(`../../${folder}/package.json`);
    await writeFile(join(target, `${name}-${version}.cdx.json`), await billOfMaterials(folder, name));
  }

  for (const language of sdks === undefined ? [] : await readdir(sdks)) {
    const archive = join(target, `pulumi-serverless-compute-sdk-${language}-v${version}.tar.gz`);
    await completeSdk(join(sdks ?? "", language), language);
    if (language === "nodejs") await packNodeSdk(join(sdks ?? "", language), target);
    const { code, stderr } = await run("tar", ["-czf", archive, "-C", join(sdks ?? "", language), "."]);
    if (code !== 0) throw new Error(`the SDK for ${language} could not be packed: ${stderr}`);
  }

  const names = (await readdir(target)).sort();
  const lines = names.map(async (name) => {
    const sum = createHash("sha256").update(await readFile(join(target, name)));
    return `${sum.digest("hex")}  ${name}\n`;
  });
  // In the format of `sha256sum --check`.
  await writeFile(join(target, "SHA256SUMS"), (await Promise.all(lines)).join(""));
  return [...names, "SHA256SUMS"];
}

const usage = "Usage: node scripts/release/assets.mjs <folder> [--sdks <folder>] [--executables]";

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const { values, positionals } = parseArgs({
      options: { sdks: { type: "string" }, executables: { type: "boolean" } },
      allowPositionals: true,
    });
    const [target] = positionals;
    if (target === undefined || positionals.length > 1) throw new Error(usage);
    for (const name of await makeReleaseAssets(resolve(target), values)) console.log(name);
    return 0;
  }, usage);
}
