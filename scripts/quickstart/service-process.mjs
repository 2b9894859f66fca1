import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** How long a service may take to say its first line, and to stop, in milliseconds. */
const patience = 20_000;

/**
 * A service as a process of its own.
 * @typedef {object} ServiceProcess
 * @property {string | undefined} line The first line it wrote; without one it is not running any more.
 * @property {Promise<string>} ended Resolves when it has ended, with the last of what it wrote to stderr.
 * @property {() => Promise<void>} stop Stops it in order.
 */

/**
 * Starts a Node program that runs until it is told to stop, and waits for its first line. However this process ends,
 * the program is told to stop. `node` is the Node that runs it; this process's own by default.
 * @param {{ args: string[], folder: string, env: NodeJS.ProcessEnv | undefined, node?: string }} program
 * @returns {Promise<ServiceProcess>}
 */
export async function startProcess({ args, folder, env, node = process.execPath }) {
  const watch = new URL("./parent-watch.mjs", import.meta.url).href;
  const child = spawn(node, ["--import", watch, ...args], {
    cwd: folder,
    env,
    // Its own process group: a Ctrl-C is for the script, which stops the service when everything else has ended.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let tail = "";
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    tail = (tail + text).slice(-2000);
  });
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", () => resolve(tail.trim()));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), patience);
    await ended;
    clearTimeout(timer);
  };
  const line = await firstLine(child, ended);
  if (line === undefined) await stop();
  return { line, ended, stop };
}

/**
 * The first line a process writes; undefined when it ends, or says nothing for too long.
 * @param {import("node:child_process").ChildProcess} child
 * @param {Promise<string>} ended
 * @returns {Promise<string | undefined>}
 */
async function firstLine(child, ended) {
  if (child.stdout === null) return undefined;
  const lines = createInterface({ input: child.stdout });
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const line = await Promise.race([
    new Promise((resolve) => lines.once("line", resolve)),
    ended.then(() => undefined),
    new Promise((resolve) => {
      timer = setTimeout(resolve, patience);
    }),
  ]);
  clearTimeout(timer);
  return line;
}
