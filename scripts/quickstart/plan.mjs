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

/** Estimated seconds of the steps on two cores. */
const estimates = { download: 60, install: 30, compile: 20, deploy: 10 };

/**
 * The findings and the steps of a run, with estimates.
 * @param {Findings} findings
 * @param {boolean} [staysRunning] False if the run destroys the stack at its end.
 * @returns {string[]} Lines.
 */
export function planLines({ node, npm, cli, go, pending }, staysRunning = true) {
  const cliSearch = [
    `Node ${node}`,
    npm === undefined ? [] : `npm ${npm}`,
    cli ? `Pulumi CLI ${cli.version} in ${cli.folder}` : "no Pulumi CLI",
    go === undefined ? [] : `Go ${go}`,
    pending.install ? "no up-to-date npm packages" : "the npm packages",
  ];
  const build = go === undefined ? "" : "; if it is not available, build it from Go modules, 3 to 10 min";
  const suffix = cli ? "" : " at the same time";
  const steps = [
    cli ? [] : `download the Pulumi CLI, about ${estimates.download} s${build}`,
    pending.install ? `install the npm packages${suffix}, about ${estimates.install} s` : [],
    pending.compile ? `compile the packages${suffix}, about ${estimates.compile} s` : [],
    `start the local service and deploy examples/quickstart, about ${estimates.deploy} s`,
    staysRunning ? [] : "destroy everything; in a terminal and without --once, the service runs until you press Ctrl-C",
  ];
  const packages = (pending.install ? estimates.install : 0) + (pending.compile ? estimates.compile : 0);
  const total = Math.max(cli ? 0 : estimates.download, packages) + estimates.deploy;
  const header = `Steps, about ${total} s in total${build === "" ? "" : " without a build of the CLI"}:`;
  return [`Found: ${cliSearch.flat().join(", ")}.`, header, ...steps.flat().map((step) => `  - ${step}`), ""];
}
