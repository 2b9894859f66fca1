import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { ToolMissing } from "../child.mjs";
import { root } from "../entry.mjs";
import { withLock } from "../lock.mjs";
import { silentProgress } from "../progress.mjs";
import { buildCli } from "./build.mjs";
import { downloadCli } from "./download.mjs";
import { folderOnPath, inspectCli, parts } from "./folder.mjs";

/** @typedef {import("./folder.mjs").Cli} Cli */

/** Version that is set up if no CLI is found; all tests ran with it. */
const pinned = "3.250.0";

/** Oldest CLI on PATH that is accepted. */
const minimum = "3.200.0";

/**
 * Search locations and tools; all have defaults.
 * @typedef {object} CliOptions
 * @property {string} [version] Version to set up if none is found.
 * @property {string} [path] The PATH to search.
 * @property {string} [cacheFolder] One folder per version; shared with Pulumi's own npm launcher.
 * @property {string} [downloadAddress]
 * @property {number} [idleTimeout] Milliseconds without data after which the download is aborted.
 * @property {string} [go] The `go` command.
 * @property {NodeJS.ProcessEnv} [env] Environment for `go`.
 * @property {string} [dynamicProvider] The file of Pulumi's npm package that serves dynamic resources.
 * @property {Promise<unknown>} [installed] Resolves once that file exists. Default: it exists.
 * @property {import("../progress.mjs").Progress} [progress]
 */

/** No CLI was found and none could be installed. The message lists the attempts and what to install. */
export class CliMissing extends Error {
  /**
   * @param {string[]} attempts
   * @param {boolean} isAbsent True if nothing failed: this machine has no CLI, no Go, and no access to a download.
   */
  constructor(attempts, isAbsent) {
    super(
      [
        "No usable Pulumi CLI was found, and none could be set up:",
        ...attempts.map((line) => `  - ${line.replaceAll("\n", "\n    ")}`),
        `Install Pulumi ${minimum} or later (https://www.pulumi.com/docs/install/) so that \`pulumi\` is on PATH,`,
        "or Go 1.25 or later (https://go.dev/dl/) with access to its modules, and try again.",
      ].join("\n"),
    );
    this.isAbsent = isAbsent;
  }
}

/**
 * Searches PATH and the cache of Pulumi's npm launcher for a usable Pulumi CLI; returns the reasons if there is none.
 * @param {CliOptions} [options]
 * @returns {Promise<{ cli: Cli } | { attempts: string[] }>}
 */
export async function searchCli(options = {}) {
  const { path, version, cacheFolder } = resolve(options);
  /** @type {string[]} */
  const attempts = [];
  const folder = await folderOnPath(path, parts.engine);
  if (folder === undefined) attempts.push("PATH: contains no pulumi");
  else {
    const result = await inspectCli(folder, { minimum, path });
    if ("version" in result) return { cli: cliIn(folder, result.version, "path") };
    attempts.push(`PATH: ${join(folder, parts.engine)}: ${result.reason}`);
  }
  const bin = join(cacheFolder, version, "bin");
  const cached = await inspectCli(bin, { exact: version });
  return "version" in cached ? { cli: cliIn(bin, version, "cache") } : { attempts };
}

/**
 * Finds or installs a Pulumi CLI: from PATH, the cache of Pulumi's npm launcher, the official download, or a build of
 * the published Go modules, in this order. Safe under concurrent processes.
 * @param {CliOptions} [options]
 * @returns {Promise<Cli>}
 */
export async function findCli(options = {}) {
  const settings = resolve(options);
  const result = await searchCli(options);
  if ("cli" in result) return result.cli;
  const { attempts } = result;
  const { version } = settings;
  const home = join(settings.cacheFolder, version);
  const bin = join(home, "bin");
  try {
    await mkdir(settings.cacheFolder, { recursive: true });
  } catch (error) {
    throw new CliMissing([...attempts, `cache: cannot be created (${messageOf(error)})`], false);
  }
  /** @type {import("../progress.mjs").Step | undefined} */
  let isWaiting;
  const work = async () => {
    isWaiting?.done();
    // Another process may have completed the setup during the wait.
    const cachedCli = await inspectCli(bin, { exact: version });
    if ("version" in cachedCli) return cliIn(bin, version, "cache");
    attempts.push(`cache: ${join(bin, parts.engine)}: ${cachedCli.reason}`);
    return createCli(home, settings, attempts);
  };
  const onWait = () => {
    isWaiting = settings.progress.start("Another process is setting up the Pulumi CLI");
  };
  return withLock(`${home}.lock`, work, { onWait });
}

/**
 * Environment in which a CLI finds its own language hosts first.
 * @param {Cli} cli
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {NodeJS.ProcessEnv}
 */
export function withCliOnPath(cli, env = process.env) {
  return { ...env, PATH: `${cli.folder}${delimiter}${env["PATH"] ?? ""}` };
}

/**
 * Installs the CLI in a draft folder and moves it into place atomically.
 * @param {string} home
 * @param {ReturnType<typeof resolve>} settings
 * @param {string[]} attempts
 * @returns {Promise<Cli>}
 */
async function createCli(home, settings, attempts) {
  const { version, downloadAddress, idleTimeout, go, env, dynamicProvider, installed } = settings;
  /** @type {{ source: "download" | "build", name: string, text: string, into: (folder: string) => Promise<void> }[]} */
  const sources = [
    {
      source: "download",
      name: `download from ${downloadAddress}`,
      text: `Downloading the Pulumi CLI ${version}`,
      into: (folder) => downloadCli({ version, folder, address: downloadAddress, idleTimeout }),
    },
    {
      source: "build",
      name: "build with Go",
      text: "Building the Pulumi CLI from its Go modules, 3 to 10 minutes, once",
      into: (folder) => buildCli({ version, folder, go, env, dynamicProvider, installed }),
    },
  ];
  await mkdir(home, { recursive: true });
  await removeDrafts(home);
  let isAbsent = true;
  for (const { source, name, text, into } of sources) {
    const temporaryFolder = await mkdtemp(join(home, temporaryPrefix));
    const step = settings.progress.start(text);
    try {
      await into(temporaryFolder);
      const cli = await inspectCli(join(temporaryFolder, "bin"), { exact: version });
      if ("reason" in cli) throw new Error(cli.reason);
      await replaceFolder(join(temporaryFolder, "bin"), join(home, "bin"), join(temporaryFolder, "old"));
      step.done(`Pulumi CLI ${version} is set up in ${join(home, "bin")}.`);
      return cliIn(join(home, "bin"), version, source);
    } catch (error) {
      step.done();
      attempts.push(`${name}: ${messageOf(error)}`);
      isAbsent &&= error instanceof ToolMissing;
    } finally {
      await rm(temporaryFolder, { recursive: true, force: true });
    }
  }
  throw new CliMissing(attempts, isAbsent);
}

const temporaryPrefix = ".draft-";

/**
 * Removes the remains of an interrupted installation. The caller holds the lock, so no other process uses them.
 * @param {string} home
 */
async function removeDrafts(home) {
  const names = await readdir(home);
  const temporaryFolders = names.filter((name) => name.startsWith(temporaryPrefix));
  await Promise.all(temporaryFolders.map((name) => rm(join(home, name), { recursive: true, force: true })));
}

/**
 * @param {string} from
 * @param {string} to
 * @param {string} oldFolder Target for a broken folder that is in the way.
 */
async function replaceFolder(from, to, oldFolder) {
  if (existsSync(to)) await rename(to, oldFolder);
  await rename(from, to);
}

/**
 * @param {string} folder
 * @param {string} version
 * @param {Cli["source"]} source
 * @returns {Cli}
 */
function cliIn(folder, version, source) {
  return { command: join(folder, parts.engine), folder, version, source };
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {CliOptions} options */
function resolve(options) {
  const { env = process.env } = options;
  return {
    version: options.version ?? pinned,
    path: options.path ?? env["PATH"] ?? "",
    cacheFolder: options.cacheFolder ?? join(env["PULUMI_HOME"] ?? join(homedir(), ".pulumi"), "versions"),
    downloadAddress: options.downloadAddress ?? "https://get.pulumi.com/releases/sdk",
    idleTimeout: options.idleTimeout ?? 15_000,
    go: options.go ?? "go",
    env,
    dynamicProvider: options.dynamicProvider ?? join(root, "node_modules", "@pulumi", "pulumi", parts.dynamicProvider),
    installed: options.installed ?? Promise.resolve(),
    progress: options.progress ?? silentProgress,
  };
}
