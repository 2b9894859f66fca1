import { type StdioOptions, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "serverless-compute-api/clock";
import { readLines } from "./lines";
import type { Reaper } from "./reaper";

/** A program that runs as a worker. */
export interface WorkerProcess {
  /** SIGTERM to its whole group, SIGKILL `grace` ms later to what is left. */
  stop(grace: number): void;
  /** SIGKILL to its whole group. */
  kill(): void;
  /** The other end of its file descriptor 3, when it was started with one. Ends with the worker and never emits an unhandled error. */
  readonly channel: Duplex | undefined;
  /** Resolves when it and all that it started are gone, and its output is read. */
  readonly ended: Promise<ProcessEnd>;
}

export interface ProcessEnd {
  /** What happened, as words that follow "the worker". */
  how: string;
  /** Whether it ended by itself with exit code 0. */
  clean: boolean;
  /** The last lines that it wrote to stderr. */
  lastErrors: string[];
}

export interface ProcessStart {
  file: string;
  args: string[];
  env: Record<string, string>;
  /** Whether it gets a socket to this process as its file descriptor 3. */
  channel: boolean;
  /** What in `env` no other process has; see workers/reaper.ts. */
  mark: string;
  reaper: Reaper;
  clock: Clock;
  /** Gets each line of its output. */
  onLine(line: string): void;
}

const keptErrors = 20;
/** Characters of one line that an error text keeps. */
const longestError = 16 * 1024;
/** How long output may still come after the process is over, ms: a stray child can hold the pipe for ever. */
const drain = 500;
/** How often it is looked whether a group is gone, ms. */
const look = 10;
/** How long killed processes may take to end, ms. What is still there then hangs in the kernel, and nobody can end it. */
const longestEnd = 10_000;

/** Starts a worker without a shell, in a process group of its own, so that what it starts ends with it. */
export function startProcess(start: ProcessStart): WorkerProcess {
  const { file, args, env, mark, reaper, clock, onLine } = start;
  const child = spawnKnown();
  const { pid: group, stdout, stderr } = child;
  // Where no file descriptor is left, there are no streams at all.
  const socket = child.stdio?.[3];
  const channel = socket instanceof Duplex ? socket : undefined;
  // It breaks when the worker is killed, which `ended` reports.
  channel?.on("error", () => undefined);
  const lastErrors: string[] = [];
  const output = Promise.all([
    channel && new Promise((resolve) => channel.once("close", resolve)),
    stdout && readLines(stdout, onLine),
    stderr &&
      readLines(stderr, (line) => {
        lastErrors.push(line.length > longestError ? `${line.slice(0, longestError)}…` : line);
        if (lastErrors.length > keptErrors) lastErrors.shift();
        onLine(line);
      }),
  ]);
  let over = false;

  /** Between the two words to the reaper lies the only moment in which it knows no group of a worker that runs. */
  function spawnKnown() {
    reaper.starting(mark);
    try {
      const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
      if (start.channel) stdio.push("pipe");
      const spawned = spawn(file, args, { env, detached: true, stdio });
      if (spawned.pid !== undefined) reaper.started(mark, spawned.pid);
      return spawned;
    } catch (error) {
      reaper.ended(mark);
      throw error;
    }
  }

  const signal = (name: NodeJS.Signals): void => {
    if (group !== undefined) signalGroup(group, name);
  };

  const exited = new Promise<Omit<ProcessEnd, "lastErrors">>((resolve) => {
    child.once("error", (error) => resolve({ how: `could not be started: ${error.message}`, clean: false }));
    child.once("exit", (code, signal) => {
      const how = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
      resolve({ how, clean: code === 0 });
    });
  });

  async function settle(): Promise<ProcessEnd> {
    const end = await exited;
    over = true;
    signal("SIGKILL");
    // What it started may hold the GPU until it is gone, too.
    if (group !== undefined && !(await groupGone(group))) onLine("processes of the worker do not end, SIGKILL or not");
    reaper.ended(mark);
    // What it wrote there and nobody reads must not delay its end.
    channel?.resume();
    const allRead = new AbortController();
    const late = pause(drain, undefined, { signal: allRead.signal }).catch(() => undefined);
    await Promise.race([output, late]);
    allRead.abort();
    for (const stream of [stdout, stderr, channel]) stream?.destroy();
    return { ...end, lastErrors };
  }

  const ended = settle();
  return {
    channel,
    ended,
    stop(grace) {
      if (over) return;
      signal("SIGTERM");
      const waiting = new AbortController();
      void ended.then(() => waiting.abort());
      clock.sleep(grace, waiting.signal).then(
        () => over || signal("SIGKILL"),
        () => undefined,
      );
    },
    kill() {
      if (!over) signal("SIGKILL");
    },
  };
}

/** Sends a signal to all processes of a group; one that has none is over already. */
function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // Nobody of the group is left.
  }
}

/** Resolves when no process of a killed group runs any more: `true`, or `false` when some did not end in time. */
async function groupGone(group: number): Promise<boolean> {
  const end = Date.now() + longestEnd;
  while (runs(group)) {
    if (Date.now() >= end) return false;
    await pause(look);
  }
  return true;
}

function runs(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  // Processes that are over stay in their group until somebody asks for them, which may be never.
  return !existsSync("/proc/self/stat") || readdirSync("/proc").some((name) => /^\d+$/.test(name) && isOf(name, group));
}

function isOf(pid: string, group: number): boolean {
  try {
    // "<pid> (<name>) <state> <parent> <group> …", where the name may hold anything.
    const [state = "", , of] = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(of) === group && !"ZX".includes(state);
  } catch {
    // It ended in between.
    return false;
  }
}
