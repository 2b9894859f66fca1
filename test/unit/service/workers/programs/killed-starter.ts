import childProcess from "node:child_process";
import { statSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { systemClock } from "serverless-compute-api/clock";
import { startProcess } from "../../../../../service/workers/runtimes/process/process";
import { createReaper } from "../../../../../service/workers/runtimes/process/reaper";

/**
 * Starts a worker (arguments: data folder, file, its arguments) as the service does, and kills itself at the moment in
 * the first argument: `before` the worker exists, once it is `spawned`, once the reaper has `registered` it, or once the file in the last
 * argument is `written`, which is later than its creation. Prints the process id of the worker or of the reaper's shell.
 */
const [moment, folder = "", file = "", ...args] = process.argv.slice(2);
const mark = `RUNPOD_POD_ID=${process.pid}-${Date.now()}`;

function die(pid: number | undefined): void {
  writeSync(1, `${pid}\n`);
  process.kill(process.pid, "SIGKILL");
}

const { spawn } = childProcess;
let last: number | undefined;
Object.assign(childProcess, {
  spawn(...call: Parameters<typeof spawn>) {
    if (moment === "before" && call[0] === file) die(last);
    const child = spawn(...call);
    last = child.pid;
    if (moment === "spawned" && call[0] === file) die(child.pid);
    return child;
  },
});
syncBuiltinESMExports();

const env = { PATH: process.env["PATH"] ?? "", RUNPOD_POD_ID: mark.slice(mark.indexOf("=") + 1) };
const reaper = createReaper(folder);
const registerAndDie = (mark: string, group: number): void => {
  reaper.started(mark, group);
  if (moment !== "written") die(group);
  const isWritten = (): boolean => (statSync(args.at(-1) ?? "", { throwIfNoEntry: false })?.size ?? 0) > 0;
  setInterval(() => isWritten() && die(group), 10);
};
const watched = { ...reaper, started: registerAndDie };
startProcess({ file, args, env, channel: false, mark, reaper: watched, clock: systemClock, onLine: () => undefined });
