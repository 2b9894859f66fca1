import { spawn } from "node:child_process";
import type { Clock } from "serverless-compute-api/clock";
import { readLines } from "./lines";
import { groupGone, signalGroup } from "./process-group";
import type { Reaper } from "./reaper";

/** A program that runs as a worker. */
export interface WorkerProcess {
  /** SIGTERM to its whole group, SIGKILL `grace` ms later to what is left. */
  stop(grace: number): void;
  /** SIGKILL to its whole group. */
  kill(): void;
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

/** Starts a worker without a shell, in a process group of its own, so that what it starts ends with it. */
export function startProcess({ file, args, env, mark, reaper, clock, onLine }: ProcessStart): WorkerProcess {
  const child = spawnKnown();
  const group = child.pid;
  const lastErrors: string[] = [];
  const output = Promise.all([
    readLines(child.stdout, onLine),
    readLines(child.stderr, (line) => {
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
      const spawned = spawn(file, args, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
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
    const timer = new AbortController();
    const late = new Promise<void>((resolve) => {
      const timeout = setTimeout(resolve, drain);
      timer.signal.addEventListener("abort", () => clearTimeout(timeout));
    });
    await Promise.race([output, late]);
    timer.abort();
    child.stdout.destroy();
    child.stderr.destroy();
    return { ...end, lastErrors };
  }

  const ended = settle();
  return {
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
