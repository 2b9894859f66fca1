import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { lastLines, run } from "../child.mjs";
import { isMain, root, runScript } from "../entry.mjs";
import { packPlugin } from "./archive-plugin.mjs";
import { bunVersion, currentArch, findBun } from "./bun.mjs";
import { bundleEntry, bundleParts, schemaText } from "./bundle-plugin.mjs";

const name = "pulumi-resource-serverless-compute";

/**
 * Builds the plugin's standalone executable for Linux: the parts of the npm package, compiled to bytecode, with
 * Bun as their runtime. Requires the compiled sources, and npm on first use of a processor.
 * @param {string} folder Target folder; the file name follows Pulumi's convention.
 * @param {import("./bun.mjs").Arch} [arch] Default: the processor of this machine.
 * @returns {Promise<string[]>} Paths of the executable and of its third-party notices.
 */
export async function buildExecutable(folder, arch = currentArch()) {
  const { command } = await findBun(currentArch());
  const { runtime, target } = await findBun(arch);
  const draft = await mkdtemp(join(tmpdir(), "executable-"));
  try {
    const parts = [
      ...(await bundleEntry("executable-entry", { packageSchema: JSON.stringify(schemaText()) })),
      ...(await bundleParts()),
    ];
    for (const { path, text } of parts) await writeFile(join(draft, basename(path)), text);
    const args = [
      "build",
      "--compile",
      "--bytecode",
      "--minify",
      "--format=cjs",
      `--target=${target}`,
      "--compile-executable-path",
      runtime,
      // The process lives for seconds and shares the processors with the engine, so code that runs a few hundred
      // times is not worth optimising.
      "--compile-jit-policy=60",
      // Files in a program's folder must not configure its plugin.
      "--no-compile-autoload-dotenv",
      "--no-compile-autoload-bunfig",
      "--outfile",
      join(draft, name),
      join(draft, "plugin.js"),
    ];
    const built = await run(command, args, { cwd: draft, timeout: 120_000 });
    if (built.code !== 0) throw new Error(`the executable could not be built: ${lastLines(built)}`);
    await mkdir(folder, { recursive: true });
    const notices = parts.map(({ path }) => basename(path)).filter((path) => path.endsWith(".LEGAL.txt"));
    await writeFile(join(draft, "NOTICE-bun.txt"), bunNotice);
    const files = [name, "NOTICE-bun.txt", ...notices];
    for (const file of files) {
      // Replaced atomically, because an engine may start the previous one.
      await copyFile(join(draft, file), join(folder, `.${file}.${process.pid}`));
      await rename(join(folder, `.${file}.${process.pid}`), join(folder, file));
    }
    await chmod(join(folder, name), 0o755);
    return files.map((file) => join(folder, file));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const bunNotice = `${name} contains Bun ${bunVersion} (MIT licence, https://github.com/oven-sh/bun), which links
JavaScriptCore and WebKit (LGPL-2.1, https://github.com/oven-sh/WebKit) and other libraries. Their licences:
https://bun.com/docs/project/license. The rest of the executable is the JavaScript of the npm package
pulumi-serverless-compute. To link it with another build of Bun, name that build in scripts/release/bun.mjs of the
package's repository and run node scripts/release/executable.mjs.
`;

/**
 * Packs the executable in the format of `pulumi plugin install`.
 * @param {string} target Folder for the archive.
 * @param {import("./bun.mjs").Arch} [arch]
 * @returns {Promise<string>} Path of the archive.
 */
export async function archiveExecutable(target, arch = currentArch()) {
  return packPlugin(target, { os: "linux", arch }, async (draft) => {
    await buildExecutable(draft, arch);
    for (const file of ["LICENSE", "THIRD-PARTY-NOTICES.txt"])
      await copyFile(join(root, "provider", file), join(draft, file));
  });
}

const usage = "Usage: node scripts/release/executable.mjs <folder>";

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const [folder] = process.argv.slice(2);
    if (folder === undefined) throw new Error(usage);
    for (const path of await buildExecutable(resolve(folder))) console.log(path);
    return 0;
  }, usage);
}
