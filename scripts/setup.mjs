import { pathToFileURL } from "node:url";
import { findCli } from "./cli/cli.mjs";
import { isOlder } from "./cli/folder.mjs";
import { root, runScript } from "./entry.mjs";
import { createProgress } from "./progress.mjs";
import { prepareWorkspace } from "./workspace.mjs";

/** The oldest Node that everything here runs on; the packages' `engines` say the same. */
const lowestNode = "20.19.0";

/**
 * Makes a clean clone ready to work: npm packages, compiled sources and, unless it is not needed, the Pulumi CLI.
 * @param {object} [options]
 * @param {import("./progress.mjs").Progress} [options.progress]
 * @returns {Promise<import("./cli/folder.mjs").Cli>}
 */
export async function setUp({ progress = createProgress() } = {}) {
  await setUpWithoutCli({ progress });
  return findCli({ progress });
}

/**
 * The same without the CLI, for what never starts the engine.
 * @param {object} [options]
 * @param {import("./progress.mjs").Progress} [options.progress]
 */
export async function setUpWithoutCli({ progress = createProgress() } = {}) {
  if (isOlder(process.versions.node, lowestNode)) {
    throw new Error(`Node ${lowestNode} or later is needed; this is ${process.versions.node}. https://nodejs.org/`);
  }
  await prepareWorkspace(root, progress);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runScript(async () => {
    const cli = await setUp();
    console.log(`Ready. Pulumi CLI ${cli.version}: ${cli.command}`);
    return 0;
  });
}
