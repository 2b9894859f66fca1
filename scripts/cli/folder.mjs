import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { lastLines, run } from "../child.mjs";

/** File names of a usable CLI: the engine, the Node language host, dynamic resources. */
export const parts = {
  engine: "pulumi",
  nodeHost: "pulumi-language-nodejs",
  dynamicProvider: "pulumi-resource-pulumi-nodejs",
};

/**
 * A usable Pulumi CLI.
 * @typedef {object} Cli
 * @property {string} command Path of the `pulumi` executable.
 * @property {string} folder Folder of the executable, to be first on PATH when it runs.
 * @property {string} version Such as `3.250.0`.
 * @property {"path" | "cache" | "download" | "build"} source Origin of the CLI.
 */

/**
 * Result of examining a folder: a version, or the reason why the CLI is unusable.
 * @typedef {{ version: string } | { reason: string }} Inspection
 */

/**
 * Runs the `pulumi` in a folder to check whether it is usable.
 * @param {string} folder
 * @param {object} wanted
 * @param {string} [wanted.minimum] Lowest accepted version.
 * @param {string} [wanted.exact] The only accepted version.
 * @param {string} [wanted.path] PATH of its other parts, besides its own folder.
 * @returns {Promise<Inspection>}
 */
export async function inspectCli(folder, { minimum, exact, path = "" }) {
  const command = await executableIn(folder, parts.engine);
  if (command === undefined) return { reason: "not there" };
  const folders = [folder, dirname(await realpath(command)), ...path.split(delimiter)];
  const host = await firstExecutable(folders, parts.nodeHost);
  if (host === undefined) return { reason: `no ${parts.nodeHost} in its folder` };
  if ((await firstExecutable(folders, parts.dynamicProvider)) === undefined) {
    return { reason: `no ${parts.dynamicProvider} in its folder` };
  }
  const version = await versionOf(command);
  if ("reason" in version) return version;
  if (exact !== undefined && version.version !== exact) return { reason: `it is version ${version.version}` };
  if (minimum !== undefined && isOlder(version.version, minimum)) {
    return { reason: `it is version ${version.version}, ${minimum} or later is required` };
  }
  const started = await canStart(host);
  return started === undefined ? version : { reason: started };
}

/**
 * The first folder of a PATH that contains an executable with the given name.
 * @param {string} path
 * @param {string} name
 */
export async function folderOnPath(path, name) {
  const command = await firstExecutable(path.split(delimiter), name);
  return command === undefined ? undefined : dirname(command);
}

/**
 * @param {string} command
 * @returns {Promise<Inspection>}
 */
async function versionOf(command) {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const finished = await runVersion(command, ["version"], env);
  if ("reason" in finished) return finished;
  const version = /^v?(\d+\.\d+\.\d+)/.exec(finished.stdout.trim())?.[1];
  if (finished.code === 0 && version !== undefined) return { version };
  return { reason: `\`pulumi version\` failed: ${lastLines(finished, 1) || `exit code ${finished.code}`}` };
}

/**
 * Checks a language host by starting it, because hosts have no version option.
 * @param {string} host
 */
async function canStart(host) {
  const finished = await runVersion(host, ["-h"], process.env);
  if ("reason" in finished) return finished.reason;
  const { signal, code } = finished;
  // 126 and 127 are a shell's exit codes for a file that the system could not run.
  const started = signal === null && code !== 126 && code !== 127;
  return started ? undefined : `${parts.nodeHost} does not start (${signal ?? "not a program"})`;
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
async function runVersion(command, args, env) {
  try {
    const finished = await run(command, args, { env, timeout: 20_000 });
    return finished.timedOut ? { reason: `${command} ${args.join(" ")} did not end within 20 s` } : finished;
  } catch (error) {
    return { reason: `${command} does not start (${error instanceof Error ? error.message : error})` };
  }
}

/**
 * @param {string[]} folders
 * @param {string} name
 */
async function firstExecutable(folders, name) {
  for (const folder of folders) {
    const stats = folder === "" ? undefined : await executableIn(folder, name);
    if (stats !== undefined) return stats;
  }
  return undefined;
}

/**
 * @param {string} folder
 * @param {string} name
 */
async function executableIn(folder, name) {
  const extensions = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  for (const extension of extensions) {
    const path = join(folder, name + extension);
    try {
      await access(path, constants.X_OK);
      const stats = await stat(path);
      if (stats.isFile() && stats.size > 0) return path;
    } catch {
      // Missing and not executable are equivalent for the caller.
    }
  }
  return undefined;
}

/**
 * @param {string} version
 * @param {string} minimum
 */
export function isOlder(version, minimum) {
  const leftParts = version.split(".").map(Number);
  const rightParts = minimum.split(".").map(Number);
  const place = [0, 1, 2].find((index) => leftParts[index] !== rightParts[index]);
  return place !== undefined && (leftParts[place] ?? 0) < (rightParts[place] ?? 0);
}
