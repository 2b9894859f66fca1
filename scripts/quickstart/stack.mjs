import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, lastLines, run } from "../child.mjs";
import { root } from "../entry.mjs";
import { places, stackName } from "./places.mjs";

/** Name of the secret in the stack's configuration. */
const secretName = "hubToken";

/** Maximum wait for another command on the stack, ms. */
const patience = 60_000;

/**
 * The quickstart's stack, operated through the CLI.
 * @param {string} command Path of `pulumi`.
 * @param {NodeJS.ProcessEnv} env
 * @param {AbortSignal} interrupt
 * @param {(text: string) => void} say
 */
export function createStack(command, env, interrupt, say) {
  /**
   * @param {string[]} args
   * @param {string} [input]
   */
  const quiet = async (args, input) => {
    const finished = await run(command, [...args, "--non-interactive"], { cwd: root, env, interrupt, input });
    if (finished.code === 0) return finished.stdout;
    throw new Error(`pulumi ${args.slice(0, 2).join(" ")} failed.\n${lastLines(finished, 10)}`);
  };

  /** @param {string[]} args */
  const shown = async (args) => {
    const looks = process.stdout.isTTY ? [] : ["--suppress-progress", "--color", "never"];
    const flags = ["--yes", "--skip-preview", "--suppress-outputs", ...looks];
    const finished = await run(command, [...args, ...flags], { cwd: root, env, interrupt, show: true });
    return finished.code === 0;
  };

  /** Waits for running commands on the stack, and removes the locks of killed ones. */
  const free = async () => {
    const began = performance.now();
    let holders = await lockHolders();
    if (holders.some(isAlive)) say("Another Pulumi command is working on this stack; waiting for it.");
    while (holders.some(isAlive) && performance.now() - began < patience) {
      await sleep(200, undefined, { signal: interrupt });
      holders = await lockHolders();
    }
    if (holders.length > 0 && !holders.some(isAlive)) await quiet(["cancel", "--yes"]);
  };

  return {
    /** Creates or selects the stack, unlocks it after a killed run, and sets its secret. */
    open: async () => {
      await quiet(["stack", "select", stackName, "--create"]);
      await free();
      const config = JSON.parse(await quiet(["config", "--json"]));
      const known = Object.keys(config).some((key) => key.endsWith(`:${secretName}`));
      if (!known) await quiet(["config", "set", "--secret", secretName], randomBytes(16).toString("hex"));
    },

    /**
     * Deploys; true on success.
     * @param {{ refresh: boolean }} options Whether to refresh first.
     */
    up: ({ refresh }) => shown(refresh ? ["up", "--refresh"] : ["up"]),

    /** Destroys; true on success. */
    destroy: () => shown(["destroy"]),

    /** @returns {Promise<Record<string, unknown>>} */
    outputs: async () => JSON.parse(await quiet(["stack", "output", "--json"])),

    /** Expected output of a worker that received the secret; the handler computes the same. */
    fingerprint: async () => {
      const secret = (await quiet(["config", "get", secretName])).trimEnd();
      return createHash("sha256").update(secret).digest("hex").slice(0, 12);
    },
  };
}

/** Process ids of the CLIs on this machine that lock the stack. Locks of killed processes are not included. */
async function lockHolders() {
  const locks = join(places.backend, ".pulumi", "locks");
  const names = await readdir(locks, { recursive: true }).catch(() => []);
  const files = names.filter((file) => file.endsWith(".json"));
  const found = await Promise.all(files.map((file) => readFile(join(locks, file), "utf8").catch(() => "{}")));
  return found.map((text) => JSON.parse(text)).flatMap(({ pid, hostname: host }) => (host === hostname() ? [pid] : []));
}
