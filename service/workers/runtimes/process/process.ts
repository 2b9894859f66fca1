import { type StdioOptions, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "serverless-compute-api/clock";
import { codeOf } from "../../../errors";
import { createLastLines, readLines } from "../../lines";
import { killAfter, type ProcessEnd, type ProgramEnd, type WorkerProcess } from "../runtime";
import type { Reaper } from "./reaper";

interface ProcessStart {
  file: string;
  args: string[];
  env: Record<string, string>;
  /** True if file descriptor 3 is a socket connected to this process. */
  channel: boolean;
  /** An entry of `env` that is unique to the worker; see reaper.ts. */
  mark: string;
  reaper: Reaper;
  clock: Clock;
  /** Receives each line of the worker's output. */
  onLine(line: string): void;
}

/** Niceness of workers, so that the service responds while they compute. */
const niceness = 5;
/** Maximum wait for output after the process has ended, ms; a stray child can keep the pipe open forever. */
const outputTimeout = 500;
/** Interval at which the end of a process group is checked, ms. */
const checkInterval = 10;
/** Maximum wait for the end of killed processes, ms. A process that remains after that hangs in the kernel and cannot be ended. */
const endTimeout = 10_000;

/** Starts a worker without a shell in its own process group, so that its child processes end with it. */
export function startProcess(start: ProcessStart): WorkerProcess {
  const { file, args, env, mark, reaper, clock, onLine } = start;
  const child = spawnRegistered();
  const { pid: group, stdout, stderr } = child;
  // If this process has run out of file descriptors, the child has no streams.
  const socket = child.stdio?.[3];
  const channel = socket instanceof Duplex ? socket : undefined;
  // The channel fails when the worker is killed, which `ended` reports.
  channel?.on("error", () => undefined);
  const lastLines = createLastLines(onLine);
  const output = Promise.all([
    channel && new Promise((resolve) => channel.once("close", resolve)),
    stdout && readLines(stdout, lastLines.addOutput),
    stderr && readLines(stderr, lastLines.addError),
  ]);
  let hasEnded = false;
  let isStopped = false;

  /** Starts the process. Only between the two calls of the reaper does it run without the reaper knowing its group. */
  function spawnRegistered() {
    reaper.starting(mark);
    try {
      const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
      if (start.channel) stdio.push("pipe");
      const spawned = spawn(file, args, { env, detached: true, stdio });
      if (spawned.pid !== undefined) {
        reaper.started(mark, spawned.pid);
        lowerPriority(spawned.pid);
      }
      return spawned;
    } catch (error) {
      reaper.ended(mark);
      if (codeOf(error) !== "E2BIG") throw error;
      throw new Error("its environment or command is longer than this system allows; shorten env, or pass a file");
    }
  }

  const signal = (name: NodeJS.Signals): void => {
    if (group !== undefined) signalGroup(group, name);
  };

  const exited = new Promise<ProgramEnd>((resolve) => {
    child.once("error", (error) => {
      const isMachineFull = /^(?:EMFILE|ENFILE|EAGAIN|ENOMEM)$/.test(codeOf(error));
      resolve({ description: `could not be started: ${error.message}`, clean: false, isMachineFull });
    });
    child.once("exit", (code, signal) => {
      const signalText = isStopped && signal === "SIGTERM" ? "was stopped by the service" : `was killed by ${signal}`;
      const description = signal ? signalText : `ended with exit code ${code}`;
      resolve({ description, clean: code === 0 });
    });
  });

  async function waitForEnd(): Promise<ProcessEnd> {
    const end = await exited;
    hasEnded = true;
    signal("SIGKILL");
    // Child processes may also use the GPU until they end.
    if (group !== undefined && !(await endProcesses(group, mark)))
      onLine("processes of the worker did not end after SIGKILL");
    reaper.ended(mark);
    // Unread data must not delay the end.
    channel?.resume();
    const outputRead = new AbortController();
    const timeout = pause(outputTimeout, undefined, { signal: outputRead.signal }).catch(() => undefined);
    await Promise.race([output, timeout]);
    outputRead.abort();
    for (const stream of [stdout, stderr, channel]) stream?.destroy();
    return { ...end, lastErrors: lastLines.lines };
  }

  const ended = waitForEnd();
  function kill(): void {
    if (!hasEnded) signal("SIGKILL");
  }
  return {
    channel,
    ended,
    stop(grace) {
      if (hasEnded) return;
      isStopped = true;
      signal("SIGTERM");
      killAfter(grace, { kill, ended }, clock);
    },
    kill,
  };
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + niceness, 19));
  } catch {
    // The process has already ended.
  }
}

/** Sends a signal to all processes of a group; a group without processes is ignored. */
function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // All processes of the group have ended.
  }
}

/** Access to the processes of the system. */
const systemProcesses = { marked: markedProcesses, kill: killStray, groupOf, isGroupRunning };

/**
 * Waits for the end of a killed process group, and kills processes of the worker that have left it; resolves with `false` if some
 * processes did not end in time.
 */
export async function endProcesses(group: number, mark: string, processes = systemProcesses): Promise<boolean> {
  const deadline = performance.now() + endTimeout;
  /** A killed process has no environment while the system frees its memory, which takes a while if it is large. */
  const strays = new Set<string>();
  for (;;) {
    for (const pid of processes.marked(mark)) {
      strays.add(pid);
      processes.kill(Number(pid));
    }
    const hasStray = [...strays].some((pid) => processes.groupOf(pid) !== undefined);
    if (!hasStray && !processes.isGroupRunning(group)) return true;
    if (performance.now() >= deadline) return false;
    await pause(checkInterval);
  }
}

/** Ids of the processes with an environment entry; none without /proc. */
function markedProcesses(mark: string): string[] {
  if (!existsSync("/proc/self/environ")) return [];
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && environmentOf(name).split("\0").includes(mark));
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    // The process has ended, or belongs to another user.
    return "";
  }
}

function killStray(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}

function isGroupRunning(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
  // Ended processes stay in their group until their parent reaps them, which may never happen.
  return (
    !existsSync("/proc/self/stat") || readdirSync("/proc").some((name) => /^\d+$/.test(name) && groupOf(name) === group)
  );
}

/** The group of a process; undefined if the process has ended. */
function groupOf(pid: string): number | undefined {
  try {
    // "<pid> (<name>) <state> <parent> <group> …", where the name may contain anything.
    const [state = "", , groupField] = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return "ZX".includes(state) ? undefined : Number(groupField);
  } catch {
    return undefined;
  }
}
