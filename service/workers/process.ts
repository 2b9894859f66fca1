import { type StdioOptions, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "serverless-compute-api/clock";
import { createLastLines, readLines } from "./lines";
import type { Reaper } from "./reaper";
import type { WorkerServer } from "./worker-server";

/** A program that runs as a worker. */
export interface WorkerProcess {
  /** Sends SIGTERM to its process group, and SIGKILL `grace` ms later to what is left of it. */
  stop(grace: number): void;
  /** Sends SIGKILL to its process group. */
  kill(): void;
  /** The other end of its file descriptor 3, if it was started with one. It closes when the worker ends; its errors are handled here. */
  readonly channel: Duplex | undefined;
  /** Resolves when its program runs, where it takes long to get there: the image of a container may have to be pulled. */
  readonly began?: Promise<void>;
  /** Possible obstacle to its calls if it does not run as a process of this machine, as text after a ";". */
  obstacle?(): string | undefined;
  /** HTTP server of a load balancer's worker; resolves when its address is known. */
  readonly server?: Promise<WorkerServer> | undefined;
  /** Resolves when it and every process it started are gone, and its output has been read. */
  readonly ended: Promise<ProcessEnd>;
}

/** How a worker ended. */
export interface ProcessEnd {
  /** Description of the end, as text after "the worker". */
  how: string;
  /** True if it exited by itself with code 0. */
  clean: boolean;
  /** The last lines it wrote to stderr; of a container that wrote none there, to stdout. */
  lastErrors: string[];
}

interface ProcessStart {
  file: string;
  args: string[];
  env: Record<string, string>;
  /** True if its file descriptor 3 is a socket connected to this process. */
  channel: boolean;
  /** An entry of `env` that no other process has; see workers/reaper.ts. */
  mark: string;
  reaper: Reaper;
  clock: Clock;
  /** Receives each line of its output. */
  onLine(line: string): void;
}

/** How much less of a busy processor workers get than the service (in steps of nice): it responds while they compute. */
const niceness = 5;
/** How long to wait for output after the process has ended, ms: a stray child can keep the pipe open for ever. */
const drain = 500;
/** How often to check whether a group is gone, ms. */
const checkInterval = 10;
/** How long killed processes may take to end, ms. One that is still there then hangs in the kernel, and nothing can end it. */
const longestEnd = 10_000;

/** Starts a worker without a shell, in a process group of its own, so that the processes it starts end with it. */
export function startProcess(start: ProcessStart): WorkerProcess {
  const { file, args, env, mark, reaper, clock, onLine } = start;
  const child = spawnKnown();
  const { pid: group, stdout, stderr } = child;
  // When this process has no file descriptors left, there are no streams at all.
  const socket = child.stdio?.[3];
  const channel = socket instanceof Duplex ? socket : undefined;
  // It fails when the worker is killed, which `ended` reports.
  channel?.on("error", () => undefined);
  const errors = createLastLines();
  const output = Promise.all([
    channel && new Promise((resolve) => channel.once("close", resolve)),
    stdout && readLines(stdout, onLine),
    stderr &&
      readLines(stderr, (line) => {
        errors.add(line);
        onLine(line);
      }),
  ]);
  let over = false;
  let isStopped = false;

  /** Only between these two calls of the reaper can a worker run whose group the reaper does not know. */
  function spawnKnown() {
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
      throw error;
    }
  }

  const signal = (name: NodeJS.Signals): void => {
    if (group !== undefined) signalGroup(group, name);
  };

  const exited = new Promise<Omit<ProcessEnd, "lastErrors">>((resolve) => {
    child.once("error", (error) => resolve({ how: `could not be started: ${error.message}`, clean: false }));
    child.once("exit", (code, signal) => {
      const bySignal = isStopped && signal === "SIGTERM" ? "was stopped by the service" : `was ended by ${signal}`;
      const how = signal ? bySignal : `ended with exit code ${code}`;
      resolve({ how, clean: code === 0 });
    });
  });

  async function settle(): Promise<ProcessEnd> {
    const end = await exited;
    over = true;
    signal("SIGKILL");
    // The processes it started may use the GPU until they are gone, too.
    if (group !== undefined && !(await groupGone(group))) onLine("processes of the worker did not end after SIGKILL");
    reaper.ended(mark);
    // Unread data must not delay its end.
    channel?.resume();
    const allRead = new AbortController();
    const late = pause(drain, undefined, { signal: allRead.signal }).catch(() => undefined);
    await Promise.race([output, late]);
    allRead.abort();
    for (const stream of [stdout, stderr, channel]) stream?.destroy();
    return { ...end, lastErrors: errors.lines };
  }

  const ended = settle();
  return {
    channel,
    ended,
    stop(grace) {
      if (over) return;
      isStopped = true;
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

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + niceness, 19));
  } catch {
    // It has ended already.
  }
}

/** Sends a signal to all processes of a group; a group without processes is ignored. */
function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // No process of the group is left.
  }
}

/** Resolves when no process of a killed group runs any more: with `true`, or `false` if some did not end in time. */
async function groupGone(group: number): Promise<boolean> {
  const end = performance.now() + longestEnd;
  while (runs(group)) {
    if (performance.now() >= end) return false;
    await pause(checkInterval);
  }
  return true;
}

function runs(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  // Ended processes stay in their group until their parent collects them, which may be never.
  return !existsSync("/proc/self/stat") || readdirSync("/proc").some((name) => /^\d+$/.test(name) && isOf(name, group));
}

function isOf(pid: string, group: number): boolean {
  try {
    // "<pid> (<name>) <state> <parent> <group> …", where the name may contain anything.
    const [state = "", , of] = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(of) === group && !"ZX".includes(state);
  } catch {
    // It ended in the meantime.
    return false;
  }
}
