import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Sends a signal to all processes of a group; one that has none is over already. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // Nobody of the group is left.
  }
}

/** How often it is looked whether a group is gone, ms. */
const look = 10;

/** How long killed processes may take to end, ms. What is still there then hangs in the kernel, and nobody can end it. */
const longest = 10_000;

/** Resolves when no process of a killed group runs any more: `true`, or `false` when some did not end in time. */
export async function groupGone(group: number): Promise<boolean> {
  const end = Date.now() + longest;
  while (runs(group)) {
    if (Date.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, look));
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
