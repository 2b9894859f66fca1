import { findCli } from "./cli/cli.mjs";
import { isOlder } from "./cli/folder.mjs";
import { isMain, root, runScript } from "./entry.mjs";
import { createProgress } from "./progress.mjs";
import { prepareWorkspace } from "./workspace.mjs";

/** Lowest supported Node version; equals the packages' `engines`. */
const lowestNode = "20.19.0";

/**
 * Prepares a clean clone: npm packages, compiled sources and, in parallel, the Pulumi CLI.
 * @param {object} [options]
 * @param {import("./progress.mjs").Progress} [options.progress]
 * @returns {Promise<import("./cli/folder.mjs").Cli>}
 */
export async function setUp(options) {
  const { workspace, cli } = startSetUp(options);
  await workspace;
  return cli;
}

/**
 * Starts the preparation of a clean clone. `workspace` resolves once the packages are compiled, `cli` once the CLI is ready. The caller
 * awaits `workspace` first: some commands continue without a CLI.
 * @param {object} [options]
 * @param {import("./progress.mjs").Progress} [options.progress]
 */
export function startSetUp({ progress = createProgress() } = {}) {
  const workspace = setUpWithoutCli({ progress });
  const cli = findCli({ progress, installed: workspace });
  cli.catch(() => {});
  return { workspace, cli };
}

/**
 * Prepares a clean clone without the CLI, for commands that do not start the engine.
 * @param {object} [options]
 * @param {import("./progress.mjs").Progress} [options.progress]
 */
export async function setUpWithoutCli({ progress = createProgress() } = {}) {
  if (isOlder(process.versions.node, lowestNode)) {
    throw new Error(`Node ${lowestNode} or later is required; this is ${process.versions.node}. https://nodejs.org/`);
  }
  await prepareWorkspace(root, progress);
}

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const cli = await setUp();
    console.log(`Ready. Pulumi CLI ${cli.version}: ${cli.command}`);
    return 0;
  });
}
