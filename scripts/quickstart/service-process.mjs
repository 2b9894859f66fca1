import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Maximum time for a service's first line, and for its stop, ms. */
const timeout = 20_000;

/**
 * A service as a child process.
 * @typedef {object} ServiceProcess
 * @property {string | undefined} line The first line of its output; undefined if it ended without output.
 * @property {Promise<string>} exit Resolves after its end, with the end of its stderr.
 * @property {() => Promise<void>} stop Stops it gracefully.
 */

/**
 * Starts a long-running Node program and waits for its first line. The program is stopped when this process ends,
 * whatever the cause. `node` is the Node executable; default: this process's own.
 * @param {{ args: string[], folder: string, env: NodeJS.ProcessEnv | undefined, node?: string }} program
 * @returns {Promise<ServiceProcess>}
 */
export async function startProcess({ args, folder, env, node = process.execPath }) {
  const parentWatch = new URL("./parent-watch.mjs", import.meta.url).href;
  const child = spawn(node, ["--import", parentWatch, ...args], {
    cwd: folder,
    env,
    // A separate process group: Ctrl-C reaches only the script, which stops the service last.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let recentOutput = "";
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    recentOutput = (recentOutput + text).slice(-2000);
  });
  /** @type {Promise<string>} */
  const exit = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", () => resolve(recentOutput.trim()));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
    await exit;
    clearTimeout(timer);
  };
  const line = await firstLine(child, exit);
  if (line === undefined) await stop();
  return { line, exit, stop };
}

/**
 * The first line of a process's output; undefined if it ends or prints nothing in time.
 * @param {import("node:child_process").ChildProcess} child
 * @param {Promise<string>} exit
 * @returns {Promise<string | undefined>}
 */
async function firstLine(child, exit) {
  if (child.stdout === null) return undefined;
  const lines = createInterface({ input: child.stdout });
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const line = await Promise.race([
    new Promise((resolve) => lines.once("line", resolve)),
    exit.then(() => undefined),
    new Promise((resolve) => {
      timer = setTimeout(resolve, timeout);
    }),
  ]);
  clearTimeout(timer);
  return line;
}
