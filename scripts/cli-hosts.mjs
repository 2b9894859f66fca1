import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buildHost, hostExecutable } from "./cli-build.mjs";
import { folderOnPath } from "./cli-folder.mjs";
import { withLock } from "./lock.mjs";
import { silent } from "./progress.mjs";

/**
 * A language host, or the reason why there is none.
 * @typedef {{ folder: string } | { reason: string }} FoundHost
 */

/**
 * Finds the host of a language that not every CLI brings along: beside the CLI, then on PATH, then built from its
 * published Go module and kept beside the CLI. Safe under several processes at once.
 * @param {import("./cli-build.mjs").MoreHosts} runtime
 * @param {import("./cli-folder.mjs").Cli} cli
 * @param {object} [options]
 * @param {string} [options.go] The `go` command.
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {import("./progress.mjs").Progress} [options.progress]
 * @returns {Promise<FoundHost>}
 */
export async function findHost(runtime, cli, { go = "go", env = process.env, progress = silent } = {}) {
  const name = hostExecutable(runtime);
  const look = async () => (await folderOnPath(cli.folder, name)) ?? (await folderOnPath(env["PATH"] ?? "", name));
  const found = await look();
  if (found !== undefined) return { folder: found };
  const build = async () => {
    const meanwhile = await look();
    if (meanwhile !== undefined) return { folder: meanwhile };
    const step = progress.start(`Building ${name} from its Go module, about 2 minutes, once`);
    // Beside the folder it goes to, so that it can be moved there whole.
    const draft = await mkdtemp(join(dirname(cli.folder), `.draft-${runtime}-`));
    try {
      await buildHost(runtime, { folder: draft, go, env });
      await mkdir(cli.folder, { recursive: true });
      const files = await readdir(join(draft, "bin"));
      // The host comes last: whoever finds it finds what it needs as well.
      for (const file of [...files.filter((other) => other !== name), name]) {
        await rename(join(draft, "bin", file), join(cli.folder, file));
      }
      return { folder: cli.folder };
    } finally {
      step.done();
      await rm(draft, { recursive: true, force: true });
    }
  };
  try {
    return await withLock(join(dirname(cli.folder), `${name}.lock`), build);
  } catch (error) {
    return { reason: `${name} is missing and cannot be built: ${error instanceof Error ? error.message : error}` };
  }
}
