import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound, lastLines, run } from "./child.mjs";
import { withLock } from "./lock.mjs";

/**
 * Installs the npm packages and compiles ours, if outdated. Safe under two concurrent processes.
 * @param {string} root
 * @param {import("./progress.mjs").Progress} progress
 * @param {string} [npm] The `npm` command.
 */
export async function prepareWorkspace(root, progress, npm = "npm") {
  const state = join(root, ".serverless-compute");
  await mkdir(state, { recursive: true });
  const onWait = () => progress.print("Another process is setting up this folder; waiting for it.");
  await withLock(
    join(state, "setup.lock"),
    async () => {
      await install(root, progress, npm);
      await build(root, progress);
    },
    { onWait },
  );
}

/**
 * The steps that `prepareWorkspace` will run.
 * @param {string} root
 */
export async function pendingSteps(root) {
  return { install: !(await isInstalled(root)), compile: !existsSync(join(root, "service", "dist")) };
}

/**
 * @param {string} root
 * @param {import("./progress.mjs").Progress} progress
 * @param {string} npm
 */
async function install(root, progress, npm) {
  if (await isInstalled(root)) return;
  const step = progress.start("Installing the npm packages");
  const args = ["ci", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"];
  const finished = await run(npm, args, { cwd: root })
    .catch((error) => {
      if (!isNotFound(error)) throw error;
      throw new Error("There is no npm on PATH. It comes with Node: https://nodejs.org/", { cause: error });
    })
    .finally(() => step.done());
  if (finished.code !== 0) throw new Error(`The npm packages could not be installed.\n${lastLines(finished, 20)}`);
}

/**
 * Tests whether the installed packages match the lockfile. Optional packages for other platforms may be missing.
 * @param {string} root
 */
async function isInstalled(root) {
  const locked = await packagesIn(join(root, "package-lock.json"));
  // npm writes this file last, so its presence implies a complete installation.
  const installed = await packagesIn(join(root, "node_modules", ".package-lock.json")).catch(() => undefined);
  const required = Object.entries(locked).filter(
    ([path, { version, optional, devOptional }]) =>
      path.includes("node_modules/") && version !== undefined && !optional && !devOptional,
  );
  return installed !== undefined && required.every(([path, { version }]) => installed[path]?.version === version);
}

/**
 * @param {string} lockfile
 * @returns {Promise<Record<string, { version?: string, optional?: boolean, devOptional?: boolean }>>}
 */
async function packagesIn(lockfile) {
  return JSON.parse(await readFile(lockfile, "utf8")).packages;
}

/**
 * Compiles the packages that changed, and bundles the plugin. Takes 0.3 s if nothing changed.
 * @param {string} root
 * @param {import("./progress.mjs").Progress} progress
 */
async function build(root, progress) {
  const step = progress.start("Compiling the packages");
  const node = (/** @type {string[]} */ args) => run(process.execPath, args, { cwd: root });
  const compiled = await node([join(root, "node_modules", "typescript-native", "bin", "tsc"), "-b"]);
  const bundled = compiled.code === 0 ? await node([join(root, "scripts", "release", "bundle-plugin.mjs")]) : undefined;
  step.done();
  if (compiled.code !== 0) throw new Error(`The packages could not be compiled.\n${compiled.stdout}`);
  if (bundled?.code !== 0) throw new Error(`The plugin could not be bundled.\n${bundled?.stderr}`);
}
