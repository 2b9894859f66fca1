import { existsSync } from "node:fs";
import { copyFile, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAlive } from "../../scripts/child.mjs";

/** A process that a stack's command started, directly or not. */
interface StackProcess {
  pid: number;
  /** Its command line: the executable, then its arguments. */
  command: string[];
}

/** True if the system has /proc, which `stackProcesses` requires. */
export const hasProc = existsSync("/proc/self");

/** Processes whose environment contains a stack's folder. */
export async function stackProcesses(folder: string): Promise<StackProcess[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const read = (id: string, name: string) => readFile(join("/proc", id, name), "utf8").catch(() => "");
  const processes = ids.map(async (id): Promise<StackProcess[]> => {
    if (!(await read(id, "environ")).includes(`${folder}/`) || !isAlive(Number(id))) return [];
    return [{ pid: Number(id), command: (await read(id, "cmdline")).split("\0") }];
  });
  return (await Promise.all(processes)).flat();
}

/** The engine itself. */
export const isEngine = ({ command }: StackProcess): boolean => /(^|\/)pulumi$/.test(command[0] ?? "");

/** Processes that run the provider: the plugin or the dynamic provider. */
export const isProvider = ({ command }: StackProcess): boolean =>
  command.some((word) => /pulumi-resource-serverless-compute$|\/dist\/plugin\.js$|dynamic-provider/.test(word));

/** Kills every process of a stack's command, like a crash of the machine. */
export async function killStackProcesses(folder: string): Promise<void> {
  for (let remaining = await stackProcesses(folder); remaining.length > 0; remaining = await stackProcesses(folder))
    for (const { pid } of remaining)
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // The process has ended.
      }
}

/**
 * Restores the checkpoint from its backup if a kill left it incomplete. The CLI's local backend writes the file of a
 * checkpoint's attributes in place, so a kill in the middle leaves it empty, and every later command fails with "EOF".
 */
export async function restoreCheckpoint(folder: string): Promise<void> {
  const stacks = join(folder, "backend", ".pulumi", "stacks");
  const files = (await readdir(stacks, { recursive: true })).filter((name) => /\.json(\.attrs)?$/.test(name));
  for (const name of files) {
    if ((await stat(join(stacks, name))).size > 0) continue;
    const checkpoint = join(stacks, dirname(name), basename(name).replace(/\.attrs$/, ""));
    await copyFile(`${checkpoint}.bak`, checkpoint);
    await copyFile(`${checkpoint}.bak.attrs`, `${checkpoint}.attrs`);
  }
}
