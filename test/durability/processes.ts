import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes of this machine whose command line contains `text`; read from /proc, so only on Linux. */
export function processesNaming(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(text));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // The process ended after the listing.
    return "";
  }
}

/** Waits up to 5 s until no command line contains `text`. Returns the remaining process ids. */
export async function processesLeft(text: string): Promise<number[]> {
  const end = Date.now() + 5000;
  for (;;) {
    const remaining = processesNaming(text);
    if (remaining.length === 0 || Date.now() > end) return remaining;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
