import { type ChildProcess, spawn } from "node:child_process";

/** Ends the workers of a service that was killed: a shell that knows their process groups and waits for the service's end. */
export interface Reaper {
  watch(group: number): void;
  forget(group: number): void;
  close(): void;
}

/**
 * Reads "+ group" and "- group" lines until its input ends, which it does however the service ends. `kill -s` is the form
 * that every sh takes with a group: dash reads `kill -KILL -- -1` as a wrong number.
 */
const script = `
  trap '' INT TERM HUP
  groups=' '
  while read -r what group; do
    if [ "$what" = + ]; then groups="$groups$group "; continue; fi
    left=' '
    for one in $groups; do [ "$one" = "$group" ] || left="$left$one "; done
    groups="$left"
  done
  for one in $groups; do kill -s KILL -- "-$one"; done
`;

export function createReaper(): Reaper {
  let shell: ChildProcess | undefined;

  function tell(line: string): void {
    shell ??= open();
    shell.stdin?.write(`${line}\n`);
  }

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

  return {
    watch: (group) => tell(`+ ${group}`),
    forget(group) {
      if (shell) tell(`- ${group}`);
    },
    close() {
      shell?.stdin?.end();
      shell = undefined;
    },
  };
}
