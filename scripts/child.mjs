import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Result of a finished child process.
 * @typedef {object} Finished
 * @property {number | null} code Exit code; null if a signal ended the process.
 * @property {NodeJS.Signals | null} signal
 * @property {string} stdout
 * @property {string} stderr
 * @property {boolean} timedOut True if the process was ended after its timeout.
 */

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env] Default: this process's environment.
 * @property {string | undefined} [input] Text for its standard input. Default: empty.
 * @property {number} [timeout] Milliseconds after which the process is ended.
 * @property {boolean} [show] Inherits this process's output (and terminal) instead of capturing it.
 * @property {AbortSignal} [interrupt] Aborting sends SIGINT, so that the child can end in order. If already aborted,
 * nothing is started.
 * @property {number} [grace] Milliseconds after an interrupt after which the process is ended. Default: unlimited.
 */

/**
 * A required tool is missing on this machine or too old. Dependent work is skipped, which is not a defect. A tool that
 * is present and fails, or any other error, is a defect.
 */
export class ToolMissing extends Error {}

/** Running child processes; they end with this process. */
const running = new Set();

process.on("exit", () => {
  for (const child of running) endGroup(child, "SIGKILL");
});

/**
 * Runs a command to its end and returns its output. The command gets its own process group: ending it ends its
 * descendants, and a Ctrl-C reaches only this process. Rejects only if the command cannot be started.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<Finished>}
 */
export function run(command, args, options = {}) {
  const { cwd, env = process.env, input, timeout, show = false, interrupt, grace } = options;
  return new Promise((resolve, reject) => {
    interrupt?.throwIfAborted();
    const output = show ? "inherit" : "pipe";
    // The engine draws its live view only if it can prompt.
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
    /** @type {NodeJS.Timeout | undefined} */
    let graceTimer;
    const onInterrupt = () => {
      endGroup(child, "SIGINT");
      if (grace !== undefined) graceTimer = setTimeout(() => endGroup(child, "SIGKILL"), grace);
    };
    interrupt?.addEventListener("abort", onInterrupt, { once: true });
    const settle = () => {
      clearTimeout(timer);
      clearTimeout(graceTimer);
      interrupt?.removeEventListener("abort", onInterrupt);
      running.delete(child);
    };
    child.once("error", (error) => {
      settle();
      reject(error);
    });
    child.once("close", (code, signal) => {
      settle();
      resolve({ code, signal, stdout, stderr, timedOut });
    });
    // If a command ends without reading its input, the error is its exit code, not this write.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/**
 * Tests whether a command failed to start because it is not on PATH.
 * @param {unknown} error Rejection of `run`.
 */
export function isNotFound(error) {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/**
 * Sends a signal to a child and its descendants.
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
export function endGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, signal);
  } catch {
    // The process has already ended.
  }
}

/**
 * Tests whether a process of this machine is running.
 * @param {number} pid
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  try {
    // An ended process keeps its id until its parent reads the exit code; in containers that may never happen.
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !["Z", "X"].includes(text.slice(text.lastIndexOf(")") + 2, text.lastIndexOf(")") + 3));
  } catch {
    return true;
  }
}

/**
 * The last lines of a command's output, for an error message.
 * @param {Finished} finished
 * @param {number} [lines]
 */
export function lastLines(finished, lines = 6) {
  const text = finished.stderr.trim() || finished.stdout.trim();
  return text.split("\n").slice(-lines).join("\n");
}

/**
 * Runs a command in the foreground in place of this script, with the terminal and its signals.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<number>} The exit code.
 */
export function runInForeground(command, args, { cwd, env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: "inherit" });
    // The terminal also sends Ctrl-C to the child; this process waits for the child's end.
    const ignore = () => {};
    const forwardSignal = () => child.kill("SIGTERM");
    process.on("SIGINT", ignore);
    process.on("SIGTERM", forwardSignal);
    child.once("error", reject);
    child.once("close", (code, signal) => {
      process.off("SIGINT", ignore).off("SIGTERM", forwardSignal);
      resolve(code ?? (signal === "SIGINT" ? 130 : 143));
    });
  });
}
