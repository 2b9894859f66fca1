import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";

/** Length of a kernel clock tick on Linux, ms. */
const tick = 10;

/** Fields of /proc/<pid>/stat that follow the command's name in parentheses, from field 3 on. */
async function stat(pid: number): Promise<string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Processor time that a process has used, ms; 0 after its end. */
export async function processorTime(pid: number): Promise<number> {
  const fields = await stat(pid);
  return (Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0)) * tick;
}

/** Resident memory of a process, MiB. */
export async function residentMemory(pid: number): Promise<number> {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}

/** All descendants of a process. */
export async function descendants(pid: number): Promise<number[]> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = new Map<number, number>();
  for (const processId of processes) parents.set(processId, Number((await stat(processId))?.[1] ?? 0));
  const children = (parent: number): number[] =>
    processes.filter((processId) => parents.get(processId) === parent).flatMap((child) => [child, ...children(child)]);
  return children(pid);
}

/** Ends a process and waits for it. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
