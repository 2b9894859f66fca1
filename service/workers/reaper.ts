import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { removeMark } from "../store/data-folder";

export type Reaper = ReturnType<typeof createReaper>;

/**
 * Reads "<mark> <group>" lines until its input ends, which happens however the service ends. Group 0 means that the worker is starting, a
 * missing group that it has ended.
 *
 * If the service is killed while it starts a worker, the worker's group is unknown, and the worker is found by its mark. The worker exists
 * when the input ends, because it has a copy of that input open until its program runs; its environment may appear slightly later.
 * Without /proc, such a worker is not found.
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
    left=' '
    for one in $workers; do [ "\${one%:*}" = "$mark" ] || left="$left$one "; done
    workers="$left\${group:+$mark:$group }"
  done
  marks=
  groups=
  for one in $workers; do
    case "$one" in
      *:0) marks="$marks -e \${one%:*}" ;;
      *) kill -s KILL -- "-\${one##*:}" && groups="$groups \${one##*:}" ;;
    esac
  done
  if [ -n "$marks" ] && [ -d /proc/self ]; then
    for look in 1 2 3 4 5 6 7 8 9 10; do
      for one in $(grep -lF $marks /proc/[0-9]*/environ); do
        one="\${one#/proc/}"
        one="\${one%/environ}"
        kill -s KILL -- "-$one" && groups="$groups $one" && break 2
      done
      sleep 0.1
    done
  fi
  runs() {
    kill -s 0 -- "-$1" || return 1
    [ -d /proc/self ] || return 0
    grep -qsE "^[0-9]+ \\(.*\\) [^ZX] [0-9]+ $1 " /proc/[0-9]*/stat
  }
  left=1000
  for one in $groups; do
    while [ "$left" -gt 0 ] && runs "$one"; do
      left=$((left - 1))
      sleep 0.01
    done
  done
  rm -f "$1$$"
`;

/** Prefix of the shells' files. */
const notePrefix = "reaper.";

/** Maximum wait for the end of a killed service's workers, ms. */
const longestWait = 10_000;

/**
 * Kills the workers of the service on `folder` if the service is killed. A shell process, started with the first worker, keeps the list
 * of workers and waits for the service to end.
 */
export function createReaper(folder: string) {
  let shell: ChildProcess | undefined;
  let closed = false;
  const noteOf = (pid: number): string => join(folder, `${notePrefix}${pid}`);

  function open(): ChildProcess {
    // In a new session, so that Ctrl-C in the terminal does not end the shell before the workers.
    const words = ["-c", script, "reaper", join(folder, notePrefix)];
    const child = spawn("/bin/sh", words, { detached: true, stdio: ["pipe", "ignore", "ignore"], env: {} });
    child.unref();
    const { pid } = child;
    if (pid !== undefined) writeFileSync(noteOf(pid), "");
    const broken = (): void => {
      if (shell === child) shell = undefined;
      if (pid !== undefined) removeMark(noteOf(pid));
    };
    child.on("error", broken);
    child.on("exit", broken);
    child.stdin?.on("error", broken);
    return child;
  }

  function note(mark: string, group: number): void {
    shell ??= open();
    shell.stdin?.write(`${mark} ${group}\n`);
  }

  return {
    /** Must be called before a worker is started. `mark` has no blanks and occurs only in this worker's environment. */
    starting: (mark: string): void => note(mark, 0),
    /** Reports the worker's process group. */
    started: note,
    /** Reports that the worker has ended, or was never started. */
    ended(mark: string): void {
      shell?.stdin?.write(`${mark}\n`);
    },
    /** Resolves when the workers of a killed service on the same folder have ended; until then they count as workers. */
    async predecessorsGone(): Promise<void> {
      const own = shell?.pid;
      const end = performance.now() + longestWait;
      for (const name of readdirSync(folder).filter((one) => one.startsWith(notePrefix))) {
        const pid = Number(name.slice(notePrefix.length));
        if (pid === own) continue;
        const note = join(folder, name);
        while (!closed && existsSync(note) && isAlive(pid) && performance.now() < end) await pause(10);
        if (!closed) removeMark(note);
      }
    },
    /** Ends the shell; resolves when it has ended. */
    async close(): Promise<void> {
      closed = true;
      const last = shell;
      shell = undefined;
      if (!last?.stdin || last.exitCode !== null || last.signalCode !== null) return;
      last.ref();
      const over = new Promise<void>((resolve) => {
        last.once("exit", () => resolve());
        last.once("error", () => resolve());
      });
      last.stdin.end();
      await over;
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
