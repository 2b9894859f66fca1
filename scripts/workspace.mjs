import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lastLines, run } from "./child.mjs";
import { withLock } from "./lock.mjs";

/** The compiled packages, in build order. */
const packages = ["api", "provider", "service"];

/**
 * Installs the npm packages and compiles ours, if outdated. Safe under two concurrent processes.
 * @param {string} root
 * @param {import("./progress.mjs").Progress} progress
 * @param {string} [npm] The `npm` command.
 */
export async function prepareWorkspace(root, progress, npm = "npm") {
  const { state, installed, compiled } = marksIn(root);
  await mkdir(state, { recursive: true });
  const onWait = () => progress.say("Another process is setting up this folder; waiting for it.");
  await withLock(
    join(state, "setup.lock"),
    async () => {
      await install(root, installed, progress, npm);
      await build(root, compiled, progress);
    },
    { onWait },
  );
}

/**
 * The steps that `prepareWorkspace` will run.
 * @param {string} root
 */
export async function pendingSteps(root) {
  const { installed, compiled } = marksIn(root);
  const { isInstalled } = await inspectPackages(root, installed);
  return { install: !isInstalled, compile: !(await isBuilt(root, await changedAt(compiled))) };
}

/**
 * Files with the results of the last runs: the checksum of the installed lockfile, and the time of a complete
 * compilation.
 * @param {string} root
 */
function marksIn(root) {
  const state = join(root, ".serverless-compute");
  return { state, installed: join(state, "installed"), compiled: join(state, "compiled") };
}

/**
 * @param {string} root
 * @param {string} mark File with the checksum of the installed lockfile.
 * @param {import("./progress.mjs").Progress} progress
 * @param {string} npm
 */
async function install(root, mark, progress, npm) {
  const { isInstalled, checksum } = await inspectPackages(root, mark);
  if (isInstalled) return writeFile(mark, checksum);
  const step = progress.start("Installing the npm packages");
  const finished = await run(npm, ["ci", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"], {
    cwd: root,
  }).catch(() => undefined);
  step.done();
  if (finished === undefined) throw new Error("There is no npm on PATH. It comes with Node: https://nodejs.org/");
  if (finished.code !== 0) throw new Error(`The npm packages could not be installed.\n${lastLines(finished, 20)}`);
  await writeFile(mark, checksum);
}

/**
 * Compares the installed packages with the lockfile.
 * @param {string} root
 * @param {string} mark File with the checksum of the installed lockfile.
 */
async function inspectPackages(root, mark) {
  const lockfile = await readFile(join(root, "package-lock.json"), "utf8");
  const checksum = createHash("sha256").update(lockfile).digest("hex");
  // npm writes this file last, so its presence implies a complete installation.
  const ended = (await changedAt(join(root, "node_modules", ".package-lock.json"))) > 0;
  const isSame = async () => (await readFile(mark, "utf8").catch(() => "")) === checksum;
  return { checksum, isInstalled: ended && ((await isSame()) || (await matches(root, lockfile))) };
}

/**
 * Tests whether the installed packages match the lockfile, for example after a manual installation. Optional packages for other
 * platforms may be missing.
 * @param {string} root
 * @param {string} lockfile
 */
async function matches(root, lockfile) {
  /** @type {{ packages?: Record<string, { version?: string, optional?: boolean, devOptional?: boolean }> }} */
  const { packages: locked = {} } = JSON.parse(lockfile);
  const needed = Object.entries(locked).filter(([, entry]) => entry.version && !entry.optional && !entry.devOptional);
  const inNodeModules = needed.filter(([path]) => path.includes("node_modules/"));
  const same = inNodeModules.map(async ([path, { version }]) => {
    const text = await readFile(join(root, path, "package.json"), "utf8").catch(() => "{}");
    return JSON.parse(text).version === version;
  });
  return (await Promise.all(same)).every(Boolean);
}

/**
 * @param {string} root
 * @param {string} mark File that is written after compiling everything without errors; the compiler's own build info is
 * always written.
 * @param {import("./progress.mjs").Progress} progress
 */
async function build(root, mark, progress) {
  if (await isBuilt(root, await changedAt(mark))) return;
  const began = new Date();
  const step = progress.start("Compiling the packages");
  const node = (/** @type {string[]} */ args) => run(process.execPath, args, { cwd: root });
  const compiled = await node([join(root, "node_modules", "typescript", "bin", "tsc"), "-b"]);
  const bundled = compiled.code === 0 ? await node([join(root, "scripts", "release", "bundle-plugin.mjs")]) : undefined;
  step.done();
  if (compiled.code !== 0) throw new Error(`The packages could not be compiled.\n${compiled.stdout}`);
  if (bundled?.code !== 0) throw new Error(`The plugin could not be bundled.\n${bundled?.stderr}`);
  await writeFile(mark, "");
  // Files saved during compilation may be missing from its output.
  await utimes(mark, began, began);
}

/**
 * Tests whether every package was compiled after its last change. File times are ten times faster than the compiler's
 * own check.
 * @param {string} root
 * @param {number} built Time of the last complete compilation.
 */
async function isBuilt(root, built) {
  const changes = packages.map(async (name) => {
    const files = await readdir(join(root, name), { recursive: true });
    const own = files.filter(isSource).map((file) => changedAt(join(root, name, file)));
    const output = await changedAt(join(root, name, "dist", ".tsbuildinfo"));
    return output === 0 ? Number.POSITIVE_INFINITY : Math.max(...(await Promise.all(own)));
  });
  return built > Math.max(await changedAt(join(root, "tsconfig.base.json")), ...(await Promise.all(changes)));
}

/** @param {string} file */
function isSource(file) {
  const inside = !/(^|[\\/])(node_modules|dist)([\\/]|$)/.test(file);
  return inside && (file.endsWith(".ts") || file === "tsconfig.json" || file === "package.json");
}

/**
 * Modification time of a file, ms; 0 if it does not exist.
 * @param {string} path
 */
async function changedAt(path) {
  return stat(path).then(
    (found) => found.mtimeMs,
    () => 0,
  );
}
