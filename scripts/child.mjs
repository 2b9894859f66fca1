import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What a finished child process left.
 * @typedef {object} Finished
 * @property {number | null} code Exit code; null when a signal ended it.
 * @property {NodeJS.Signals | null} signal
 * @property {string} stdout
 * @property {string} stderr
 * @property {boolean} timedOut Whether it was ended because it took longer than allowed.
 */

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env] Default: this process's environment.
 * @property {string | undefined} [input] Text for its standard input; without it the input is empty.
 * @property {number} [timeout] Milliseconds after which it is ended.
 * @property {boolean} [show] Whether it has this process's own output (and terminal) instead of being captured.
 * @property {AbortSignal} [interrupt] Aborting sends SIGINT, which lets the child end in order; aborted already, nothing is started.
 */

/**
 * A tool that this machine does not have, or has too old. What needs it cannot be done here, which is no defect; that a
 * tool is there and fails is one, and any other error.
 */
export class ToolMissing extends Error {}

/** Children that still run; whatever ends this process takes them along. */
const running = new Set();

process.on("exit", () => {
  for (const child of running) endGroup(child, "SIGKILL");
});

/**
 * Runs a command to its end and hands back what it wrote. It gets its own process group, so that ending it
 * ends what it started, and so that a Ctrl-C reaches this process only, which then decides what to do.
 * Rejects only when the command cannot be started.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<Finished>}
 */
export function run(command, args, options = {}) {
  const { cwd, env = process.env, input, timeout, show = false, interrupt } = options;
  return new Promise((resolve, reject) => {
    interrupt?.throwIfAborted();
    const output = show ? "inherit" : "pipe";
    // The engine draws its live view only when it could ask something.
    const keyboard = show && process.stdin.isTTY ? "inherit" : "ignore";
    const child = spawn(command, args, {
      cwd,
      env,
      detached: process.platform !== "win32",
      stdio: [input === undefined ? keyboard : "pipe", output, output],
    });
    running.add(child);
    let stdout = "";
    let stderr = "";
    let timedOut = false;
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    const timer =
      timeout === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            endGroup(child, "SIGKILL");
          }, timeout);
    const onInterrupt = () => endGroup(child, "SIGINT");
    interrupt?.addEventListener("abort", onInterrupt, { once: true });
    const settled = () => {
      clearTimeout(timer);
      interrupt?.removeEventListener("abort", onInterrupt);
      running.delete(child);
    };
    child.once("error", (error) => {
      settled();
      reject(error);
    });
    child.once("close", (code, signal) => {
      settled();
      resolve({ code, signal, stdout, stderr, timedOut });
    });
    // A command that ends without reading its input is told apart by its exit code, not by this write.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/**
 * Whether a command could not be started because it is nowhere on PATH.
 * @param {unknown} error What `run` rejected with.
 */
export function isNotFound(error) {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/**
 * Sends a signal to a child and everything it started.
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
export function endGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, signal);
  } catch {
    // It ended in the meantime.
  }
}

/**
 * Whether a process of this machine still runs.
 * @param {number} pid
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  try {
    // A process that ended keeps its id until its parent asks for its result; in containers nobody may ever ask.
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !["Z", "X"].includes(text.slice(text.lastIndexOf(")") + 2, text.lastIndexOf(")") + 3));
  } catch {
    return true;
  }
}

/**
 * The last lines of what a command wrote, for an error message.
 * @param {Finished} finished
 * @param {number} [lines]
 */
export function lastLines(finished, lines = 6) {
  const text = finished.stderr.trim() || finished.stdout.trim();
  return text.split("\n").slice(-lines).join("\n");
}

/**
 * Runs a command in the foreground, as if it had been typed instead of this script: it has the terminal, its signals
 * and its exit code.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<number>} its exit code
 */
export function handOver(command, args, { cwd, env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: "inherit" });
    // The terminal sends a Ctrl-C to the child as well, which decides how to end; this process waits for that.
    const ignore = () => {};
    const pass = () => child.kill("SIGTERM");
    process.on("SIGINT", ignore);
    process.on("SIGTERM", pass);
    child.once("error", reject);
    child.once("close", (code, signal) => {
      process.off("SIGINT", ignore).off("SIGTERM", pass);
      resolve(code ?? (signal === "SIGINT" ? 130 : 143));
    });
  });
}
