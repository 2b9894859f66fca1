import { lastLines, run } from "../child.mjs";
import { root } from "../entry.mjs";
import { publishedPackages } from "../generate/metadata.mjs";

/**
 * Packs the built packages for npm.
 * @param {string} target An existing folder.
 * @returns {Promise<string[]>} File names of the packages.
 */
export async function packPackages(target) {
  const args = ["pack", ...publishedPackages.map((name) => `./${name}`), "--silent", "--pack-destination", target];
  const packed = await run("npm", args, { cwd: root });
  if (packed.code !== 0) throw new Error(`the packages could not be packed: ${lastLines(packed)}`);
  return packed.stdout.trim().split("\n");
}
