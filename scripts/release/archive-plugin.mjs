import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastLines, run } from "../child.mjs";
import { isMain } from "../entry.mjs";

const provider = fileURLToPath(new URL("../../provider", import.meta.url));
const executable = "pulumi-resource-serverless-compute";

/**
 * A platform, named as in Pulumi's plugin archives.
 * @typedef {{ os: "linux" | "darwin" | "windows", arch: "amd64" | "arm64" }} Platform
 */

/**
 * Packs a plugin in the format of `pulumi plugin install`, with the file name that Pulumi expects from a release.
 * @param {string} target Folder for the archive.
 * @param {Platform | undefined} platform
 * @param {(folder: string) => Promise<unknown>} writeContents Writes the files of the archive to a folder.
 * @returns {Promise<string>} Path of the archive.
 */
export async function packPlugin(target, platform, writeContents) {
  const { version } = createRequire(import.meta.url)("../../provider/package.json");
  const draft = await mkdtemp(join(tmpdir(), "archive-plugin-"));
  try {
    await writeContents(draft);
    await mkdir(target, { recursive: true });
    const name = [`${executable}-v${version}`, ...(platform ? [platform.os, platform.arch] : [])].join("-");
    const archive = join(target, `${name}.tar.gz`);
    const packed = await run("tar", ["-czf", archive, "-C", draft, ...(await readdir(draft))]);
    if (packed.code !== 0) throw new Error(`the plugin could not be packed: ${lastLines(packed)}`);
    return archive;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Packs the built plugin in the format of `pulumi plugin install`, with the executable at the top level. The plugin is
 * JavaScript, so the archives differ only in name and in the start file for Windows. Without
 * a platform the archive is for all of them.
 * @param {string} target Folder for the archive.
 * @param {Platform} [platform]
 * @returns {Promise<string>} Path of the archive.
 */
export async function archivePlugin(target, platform) {
  return packPlugin(target, platform, async (draft) => {
    // On Windows Pulumi starts only .exe and .cmd files.
    const isWindows = platform?.os !== "linux" && platform?.os !== "darwin";
    for (const name of [executable, ...(isWindows ? [`${executable}.cmd`] : [])]) {
      const launcher = await readFile(join(provider, "bin", name), "utf8");
      await writeFile(join(draft, name), launcher.replace(/\.\.([/\\])dist/, ".$1dist"));
      await chmod(join(draft, name), 0o755);
    }
    // The bundler reports which bundled files have third-party licences.
    const notices = (await readdir(join(provider, "dist"))).filter((name) => /^deployment.*\.LEGAL\.txt$/.test(name));
    for (const file of [
      "LICENSE",
      "THIRD-PARTY-NOTICES.txt",
      "dist/plugin.js",
      "dist/deployment.js",
      "dist/deployment-clients.js",
      "dist/plugin-schema.json",
      ...notices.map((name) => `dist/${name}`),
    ]) {
      await mkdir(dirname(join(draft, file)), { recursive: true });
      await copyFile(join(provider, file), join(draft, file));
    }
  });
}

if (isMain(import.meta.url)) {
  console.log(await archivePlugin(process.argv[2] ?? "."));
}
