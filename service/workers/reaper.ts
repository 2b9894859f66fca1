import { type ChildProcess, spawn } from "node:child_process";

/** Ends the workers of a service that was killed: a shell that knows the workers and waits for the service's end. */
export interface Reaper {
  /** Comes before the start of a worker: `mark`, a text without blanks, stands in its environment and in no other. */
  starting(mark: string): void;
  /** The worker runs as this process group. */
  started(mark: string, group: number): void;
  /** The worker is over, or never began. */
  ended(mark: string): void;
  close(): void;
}

/**
 * Reads "<mark> <group>" lines until its input ends, which it does however the service ends. Group 0 is a worker that
 * starts now, no group one that is over.
 *
 * A service that is killed in the middle of a start leaves a worker whose group nobody told. It is found by its mark:
 * until its program runs it holds a copy of this input, so that it is there at the end of it; only its environment can
 * be a moment late. Where there is no /proc such a worker is not found.
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
  for one in $workers; do
    case "$one" in
      *:0) marks="$marks -e \${one%:*}" ;;
      *) kill -s KILL -- "-\${one##*:}" ;;
    esac
  done
  [ -n "$marks" ] && [ -d /proc/self ] || exit 0
  for look in 1 2 3 4 5 6 7 8 9 10; do
    for one in $(grep -lF $marks /proc/[0-9]*/environ); do
      one="\${one#/proc/}"
      kill -s KILL -- "-\${one%/environ}" && exit
    done
    sleep 0.1
  done
`;

export function createReaper(): Reaper {
  let shell: ChildProcess | undefined;

  function open(): ChildProcess {
    // A session of its own: Ctrl-C in the terminal must not end it before the workers.
    const child = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["pipe", "ignore", "ignore"], env: {} });
    child.unref();
    const broken = (): void => {
      if (shell === child) shell = undefined;
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
    close() {
      shell?.stdin?.end();
      shell = undefined;
    },
  };
}
