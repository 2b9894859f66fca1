import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { lastLines, run } from "./child.mjs";

const provider = fileURLToPath(new URL("../provider", import.meta.url));
const executable = "pulumi-resource-serverless-compute";

/**
 * Packs the built plugin as `pulumi plugin install … --file` wants it: the executable on top. Every platform's archive is
 * the same, since the plugin is JavaScript; the code cache stays out, for the Node it meets is not known.
 * @param {string} target Folder for the archive.
 * @returns {Promise<string>} Path of the archive.
 */
export async function archivePlugin(target) {
  const { version } = createRequire(import.meta.url)("../provider/package.json");
  const draft = await mkdtemp(join(tmpdir(), "archive-plugin-"));
  try {
    const launcher = await readFile(join(provider, "bin", executable), "utf8");
    await writeFile(join(draft, executable), launcher.replace("../dist/", "./dist/"));
    await chmod(join(draft, executable), 0o755);
    for (const file of [
      "dist/plugin/launch.js",
      "dist/plugin/run-bundle.js",
      "dist/plugin/code-cache.js",
      "dist/plugin.js",
      "dist/plugin.js.LEGAL.txt",
    ]) {
      await mkdir(dirname(join(draft, file)), { recursive: true });
      await copyFile(join(provider, file), join(draft, file));
    }
    await mkdir(target, { recursive: true });
    const archive = join(target, `${executable}-v${version}.tar.gz`);
    const packed = await run("tar", ["-czf", archive, "-C", draft, ...(await readdir(draft))]);
    if (packed.code !== 0) throw new Error(`the plugin could not be packed: ${lastLines(packed)}`);
    return archive;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(await archivePlugin(process.argv[2] ?? "."));
}
