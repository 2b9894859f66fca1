import { dirname, join } from "node:path";
import { ToolMissing } from "../child.mjs";
import { withLock } from "../lock.mjs";
import { silentProgress } from "../progress.mjs";
import { hostExecutable, installHost, isOutdatedHost } from "./build.mjs";
import { folderOnPath } from "./folder.mjs";

/**
 * A language host, or the tool that is required to build one.
 * @typedef {{ folder: string } | { reason: string }} FoundHost
 */

/**
 * Finds a language host that is not part of every CLI: next to the CLI, on PATH, or built from its published Go module
 * and stored next to the CLI. A build of another version is replaced. A failed build is an error. Safe under concurrent processes.
 * @param {import("./build.mjs").MoreHosts} runtime
 * @param {import("./folder.mjs").Cli} cli
 * @param {object} [options]
 * @param {string} [options.go] The `go` command.
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {import("../progress.mjs").Progress} [options.progress]
 * @returns {Promise<FoundHost>}
 */
export async function findHost(runtime, cli, { go = "go", env = process.env, progress = silentProgress } = {}) {
  const name = hostExecutable(runtime);
  const searchHost = async () => {
    const beside = await folderOnPath(cli.folder, name);
    if (beside === undefined) return folderOnPath(env["PATH"] ?? "", name);
    return (await isOutdatedHost(runtime, join(beside, name), go, env)) ? undefined : beside;
  };
  const existing = await searchHost();
  if (existing !== undefined) return { folder: existing };
  const build = async () => {
    const installed = await searchHost();
    if (installed !== undefined) return { folder: installed };
    await installHost(runtime, { label: name, folder: cli.folder, beside: dirname(cli.folder), go, env, progress });
    return { folder: cli.folder };
  };
  try {
    return await withLock(join(dirname(cli.folder), `${name}.lock`), build);
  } catch (error) {
    if (error instanceof ToolMissing) return { reason: `${name} is missing and cannot be built: ${error.message}` };
    throw new Error(`${name} cannot be built: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
