import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Ends the workers of a service that was killed: a shell that knows the workers and waits for the service's end. */
export interface Reaper {
  /** Comes before the start of a worker: `mark`, a text without blanks, stands in its environment and in no other. */
  starting(mark: string): void;
  /** The worker runs as this process group. */
  started(mark: string, group: number): void;
  /** The worker is over, or never began. */
  ended(mark: string): void;
  /** Resolves when the workers of a killed service on the same folder are gone: until then they take their places. */
  predecessorsGone(): Promise<void>;
  /** Resolves when the shell is over. */
  close(): Promise<void>;
}

/**
 * Reads "<mark> <group>" lines until its input ends, which it does however the service ends. Group 0 is a worker that
 * starts now, no group one that is over.
 *
 * A service that is killed in the middle of a start leaves a worker whose group nobody told. It is found by its mark:
 * until its program runs it holds a copy of this input, so that it is there at the end of it; only its environment can
 * be a moment late. Where there is no /proc such a worker is not found.
 *
 * Its note, a file with its process id in the name, is there until the last of those it killed is gone.
 *
 * `kill -s` is the form that every sh takes with a group: dash reads `kill -KILL -- -1` as a wrong number.
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

/** What the names of the shells' notes begin with. */
const notePrefix = "reaper.";

/** How long a start waits for the workers of a killed service at most, ms. */
const longestWait = 10_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** `folder` belongs to one service at a time. */
export function createReaper(folder: string): Reaper {
  let shell: ChildProcess | undefined;
  let closed = false;
  const noteOf = (pid: number): string => join(folder, `${notePrefix}${pid}`);

  function open(): ChildProcess {
    // A session of its own: Ctrl-C in the terminal must not end it before the workers.
    const words = ["-c", script, "reaper", join(folder, notePrefix)];
    const child = spawn("/bin/sh", words, { detached: true, stdio: ["pipe", "ignore", "ignore"], env: {} });
    child.unref();
    const { pid } = child;
    if (pid !== undefined) writeFileSync(noteOf(pid), "");
    const broken = (): void => {
      if (shell === child) shell = undefined;
      if (pid !== undefined) rmSync(noteOf(pid), { force: true });
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
    starting: (mark) => note(mark, 0),
    started: note,
    ended(mark) {
      shell?.stdin?.write(`${mark}\n`);
    },
    async predecessorsGone() {
      const own = shell?.pid;
      const end = Date.now() + longestWait;
      for (const name of readdirSync(folder).filter((one) => one.startsWith(notePrefix))) {
        const pid = Number(name.slice(notePrefix.length));
        if (pid === own) continue;
        const note = join(folder, name);
        while (!closed && existsSync(note) && isAlive(pid) && Date.now() < end) await pause(10);
        if (!closed) rmSync(note, { force: true });
      }
    },
    async close() {
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
