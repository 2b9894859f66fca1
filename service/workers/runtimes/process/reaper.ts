/** The reaper is a shell, because it outlives a killed service and takes 2 MB of memory. A Node process would take 43 MB. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { codeOf } from "../../../errors";
import { removeMarker } from "../../../store/data-folder";

export type Reaper = ReturnType<typeof createReaper>;

/**
 * Reads "<mark> <group>" lines until its input ends, which happens however the service ends. Group 0 means that the worker is starting, a
 * missing group that it has ended.
 *
 * Processes that have left their worker's group, such as daemons, are found by the worker's mark. If the service is killed while it starts a
 * worker, the worker's group is unknown, and the worker is found by its mark. The worker exists
 * when the input ends, because it has a copy of that input open until its program runs; its environment may appear slightly later.
 * Without /proc, such processes are not found.
 *
 * A file with the shell's process id in its name exists until all processes killed by the shell have ended.
 *
 * Every sh accepts `kill -s` with a group; dash rejects `kill -KILL -- -1` as a bad number.
 */
const script = `
  PATH=/usr/bin:/bin
  trap '' INT TERM HUP
  workers=' '
  while read -r mark group; do
    remaining=' '
    for entry in $workers; do [ "\${entry%:*}" = "$mark" ] || remaining="$remaining$entry "; done
    workers="$remaining\${group:+$mark:$group }"
  done
  marks=
  groups=
  starting=
  for entry in $workers; do
    marks="$marks -e \${entry%:*}"
    case "$entry" in
      *:0) starting=1 ;;
      *) kill -s KILL -- "-\${entry##*:}" && groups="$groups \${entry##*:}" ;;
    esac
  done
  if [ -n "$marks" ] && [ -d /proc/self ]; then
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
      for entry in $(grep -lF $marks /proc/[0-9]*/environ); do
        entry="\${entry#/proc/}"
        entry="\${entry%/environ}"
        kill -s KILL -- "-$entry" && groups="$groups $entry" || kill -s KILL "$entry"
      done
      [ -n "$starting" ] || break
      sleep 0.1
    done
  fi
  is_running() {
    kill -s 0 -- "-$1" || return 1
    [ -d /proc/self ] || return 0
    grep -qsE "^[0-9]+ \\(.*\\) [^ZX] [0-9]+ $1 " /proc/[0-9]*/stat
  }
  polls=1000
  for entry in $groups; do
    while [ "$polls" -gt 0 ] && is_running "$entry"; do
      polls=$((polls - 1))
      sleep 0.01
    done
  done
  rm -f "$1$$"
`;

/** Prefix of the shells' files. */
const markerPrefix = "reaper.";

/** Maximum wait for the end of a killed service's workers, ms. */
const maxWait = 10_000;

/**
 * Kills the workers of the service on `folder` if the service is killed. A shell process, started with the first worker, keeps the list
 * of workers and waits for the service to end.
 */
export function createReaper(folder: string) {
  let shell: ChildProcess | undefined;
  /** The groups of the workers by mark, for a new shell. */
  const workers = new Map<string, number>();
  let closed = false;
  const markerOf = (pid: number): string => join(folder, `${markerPrefix}${pid}`);

  function open(): ChildProcess {
    // In a new session, so that Ctrl-C in the terminal does not end the shell before the workers.
    const shellArguments = ["-c", script, "reaper", join(folder, markerPrefix)];
    const child = spawn("/bin/sh", shellArguments, { detached: true, stdio: ["pipe", "ignore", "ignore"], env: {} });
    child.unref();
    const { pid } = child;
    try {
      if (pid !== undefined) writeFileSync(markerOf(pid), "");
    } catch (error) {
      child.stdin?.end();
      throw error;
    }
    const onFailure = (): void => {
      if (shell === child) shell = undefined;
      if (pid !== undefined) removeMarker(markerOf(pid));
    };
    child.on("error", onFailure);
    child.on("exit", onFailure);
    child.stdin?.on("error", onFailure);
    return child;
  }

  function report(mark: string, group: number): void {
    const changed = new Map(shell ? [] : workers).set(mark, group);
    shell ??= open();
    workers.set(mark, group);
    for (const [worker, itsGroup] of changed) shell.stdin?.write(`${worker} ${itsGroup}\n`);
  }

  return {
    /** Must be called before a worker is started. `mark` has no blanks and occurs only in this worker's environment. */
    starting: (mark: string): void => report(mark, 0),
    /** Reports the worker's process group. */
    started: report,
    /** Reports that the worker has ended, or was never started. */
    ended(mark: string): void {
      workers.delete(mark);
      shell?.stdin?.write(`${mark}\n`);
    },
    /** Resolves when the workers of a killed service on the same folder have ended; until then they count as workers. */
    async waitForPredecessors(): Promise<void> {
      const ownPid = shell?.pid;
      const deadline = performance.now() + maxWait;
      for (const name of readdirSync(folder).filter((fileName) => fileName.startsWith(markerPrefix))) {
        const pid = Number(name.slice(markerPrefix.length));
        if (pid === ownPid) continue;
        const marker = join(folder, name);
        while (!closed && existsSync(marker) && isAlive(pid) && performance.now() < deadline) await pause(10);
        if (!closed) removeMarker(marker);
      }
    },
    /** Ends the shell; resolves when it has ended. */
    async close(): Promise<void> {
      closed = true;
      const closingShell = shell;
      shell = undefined;
      if (!closingShell?.stdin || closingShell.exitCode !== null || closingShell.signalCode !== null) return;
      closingShell.ref();
      const exited = new Promise<void>((resolve) => {
        closingShell.once("exit", () => resolve());
        closingShell.once("error", () => resolve());
      });
      closingShell.stdin.end();
      await exited;
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
