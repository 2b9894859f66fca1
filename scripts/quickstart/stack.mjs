import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, lastLines, run } from "../child.mjs";
import { root } from "../entry.mjs";
import { paths, stackName } from "./paths.mjs";

/** Name of the secret in the stack's configuration. */
const secretName = "hubToken";

/** Maximum wait for another command on the stack, ms. */
const lockTimeout = 60_000;

/**
 * The quickstart's stack, operated through the CLI.
 * @param {string} command Path of `pulumi`.
 * @param {NodeJS.ProcessEnv} env
 * @param {AbortSignal} interrupt
 * @param {(text: string) => void} print
 */
export function createStack(command, env, interrupt, print) {
  /**
   * @param {string[]} args
   * @param {string} [input]
   */
  const runQuietly = async (args, input) => {
    const finished = await run(command, [...args, "--non-interactive"], { cwd: root, env, interrupt, input });
    if (finished.code === 0) return finished.stdout;
    throw new Error(`pulumi ${args.slice(0, 2).join(" ")} failed.\n${lastLines(finished, 10)}`);
  };

  /** @param {string[]} args */
  const runVisibly = async (args) => {
    const displayFlags = process.stdout.isTTY ? [] : ["--suppress-progress", "--color", "never"];
    const flags = ["--yes", "--skip-preview", "--suppress-outputs", ...displayFlags];
    const finished = await run(command, [...args, ...flags], { cwd: root, env, interrupt, show: true });
    return finished.code === 0;
  };

  /** Waits for running commands on the stack, and removes the locks of killed ones. */
  const waitForLocks = async () => {
    const startTime = performance.now();
    let holders = await lockHolders();
    if (holders.some(isAlive)) print("Another Pulumi command is working on this stack; waiting for it.");
    while (holders.some(isAlive) && performance.now() - startTime < lockTimeout) {
      await sleep(200, undefined, { signal: interrupt });
      holders = await lockHolders();
    }
    if (holders.length > 0 && !holders.some(isAlive)) await runQuietly(["cancel", "--yes"]);
  };

  return {
    /** Creates or selects the stack, unlocks it after a killed run, and sets its secret. */
    open: async () => {
      await runQuietly(["stack", "select", stackName, "--create"]);
      await waitForLocks();
      const config = JSON.parse(await runQuietly(["config", "--json"]));
      const isConfigured = Object.keys(config).some((key) => key.endsWith(`:${secretName}`));
      if (!isConfigured) await runQuietly(["config", "set", "--secret", secretName], randomBytes(16).toString("hex"));
    },

    /**
     * Deploys; true on success.
     * @param {{ refresh: boolean }} options Whether to refresh first.
     */
    up: ({ refresh }) => runVisibly(refresh ? ["up", "--refresh"] : ["up"]),

    /** Destroys; true on success. */
    destroy: () => runVisibly(["destroy"]),

    /** @returns {Promise<Record<string, unknown>>} */
    outputs: async () => JSON.parse(await runQuietly(["stack", "output", "--json"])),

    /** Expected output of a worker that received the secret; the handler computes the same. */
    fingerprint: async () => {
      const secret = (await runQuietly(["config", "get", secretName])).trimEnd();
      return createHash("sha256").update(secret).digest("hex").slice(0, 12);
    },
  };
}

/** Process ids of the CLIs on this machine that lock the stack. Locks of killed processes are not included. */
async function lockHolders() {
  const lockFolder = join(paths.backend, ".pulumi", "locks");
  const names = await readdir(lockFolder, { recursive: true }).catch(() => []);
  const files = names.filter((file) => file.endsWith(".json"));
  // A process that is killed may leave a part of a lock.
  const readLock = async (/** @type {string} */ file) => JSON.parse(await readFile(join(lockFolder, file), "utf8"));
  const locks = await Promise.all(files.map((file) => readLock(file).catch(() => ({}))));
  return locks.flatMap(({ pid, hostname: host }) => (host === hostname() ? [pid] : []));
}
