import { checkGo } from "../cli/build.mjs";
import { searchCli } from "../cli/cli.mjs";
import { root } from "../entry.mjs";
import { pendingSteps } from "../workspace.mjs";

/**
 * Tools and results of earlier runs on this machine.
 * @typedef {object} Findings
 * @property {string} node Version.
 * @property {string | undefined} npm Version; undefined if npm did not start this script.
 * @property {{ version: string, folder: string } | undefined} cli
 * @property {string | undefined} go Version; undefined if it is missing or too old, or not required.
 * @property {{ install: boolean, compile: boolean }} pending Steps for the packages.
 */

/**
 * Looks for tools and results of earlier runs; changes nothing.
 * @returns {Promise<Findings>}
 */
export async function inspectMachine() {
  const [cliSearch, pending] = await Promise.all([searchCli(), pendingSteps(root)]);
  const cli = "cli" in cliSearch ? cliSearch.cli : undefined;
  return {
    node: process.versions.node,
    npm: /^npm\/(\S+)/.exec(process.env["npm_config_user_agent"] ?? "")?.[1],
    cli,
    go: cli ? undefined : await checkGo().catch(() => undefined),
    pending,
  };
}

/**
 * The findings and the steps of a run, with estimates for a machine with two cores.
 * @param {Findings} findings
 * @returns {string[]} Lines.
 */
export function planLines({ node, npm, cli, go, pending }) {
  const cliSearch = [
    `Node ${node}`,
    npm === undefined ? [] : `npm ${npm}`,
    cli ? `Pulumi CLI ${cli.version} in ${cli.folder}` : "no Pulumi CLI",
    go === undefined ? [] : `Go ${go}`,
    pending.install ? "no up-to-date npm packages" : "the npm packages",
  ];
  const build = go === undefined ? "" : "; if it is not available, build it from Go modules, 5 to 10 min";
  const suffix = cli ? "" : " at the same time";
  const steps = [
    cli ? [] : `download the Pulumi CLI, about 1 min${build}`,
    pending.install ? `install the npm packages${suffix}, about 30 s` : [],
    pending.compile ? `compile the packages${suffix}, about 20 s` : [],
    "start the local service and deploy examples/quickstart, about 20 s",
  ];
  return [`Found: ${cliSearch.flat().join(", ")}.`, "Steps:", ...steps.flat().map((step) => `  - ${step}`), ""];
}
