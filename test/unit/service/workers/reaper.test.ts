import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../../scripts/child.mjs";
import { createReaper } from "../../../../service/workers/runtimes/process/reaper";
import { scratchFolder } from "../../../support/folders";
import { useLocalService } from "../../../support/local-service";
import { isPending } from "../../../support/pending";
import { images, program, scratchFile, shortTimings } from "./support/programs";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

const notes = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith("reaper."));

/** Runs killed-starter with this moment, and returns the printed process id. */
function killedWhen(moment: string, folder: string, file: string, ...args: string[]): number {
  const loader = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
  const starter = ["--import", loader, program("killed-starter.ts"), moment, folder, file, ...args];
  const TSX_TSCONFIG_PATH = join(root, "test/unit/service/cli/source-paths.json");
  const { signal, stdout, stderr } = spawnSync(process.execPath, starter, {
    env: { PATH: process.env["PATH"], TSX_TSCONFIG_PATH },
    encoding: "utf8",
  });
  expect({ signal, stderr }).toEqual({ signal: "SIGKILL", stderr: "" });
  const worker = Number(stdout);
  onTestFinished(() => {
    if (isAlive(worker)) process.kill(worker, "SIGKILL");
  });
  return worker;
}

test("a worker ends with its service if the service is killed immediately after the spawn", async () => {
  const worker = killedWhen("spawned", scratchFolder(), process.execPath, program("stays.mjs"), scratchFile());
  expect(worker).toBeGreaterThan(0);
  await expect.poll(() => isAlive(worker), { timeout: 20_000 }).toBe(false);
});

test.skipIf(!existsSync("/proc/self/environ"))("a daemon of a worker ends with its killed service", async () => {
  const file = scratchFile();
  const source = `require("node:child_process").spawn(process.execPath, process.argv.slice(1), { detached: true, stdio: "ignore" }).unref(); setInterval(() => {}, 1000)`;
  const worker = killedWhen("written", scratchFolder(), process.execPath, "-e", source, program("stays.mjs"), file);
  await expect.poll(() => readFileSync(file, "utf8")).toMatch(/^\d+$/);
  const daemon = Number(readFileSync(file, "utf8"));
  onTestFinished(() => {
    if (isAlive(daemon)) process.kill(daemon, "SIGKILL");
  });
  expect(daemon).not.toBe(worker);
  await expect.poll(() => [isAlive(worker), isAlive(daemon)], { timeout: 20_000 }).toEqual([false, false]);
});

test("the reaper's shell ends itself if no worker was started", async () => {
  const shell = killedWhen("before", scratchFolder(), process.execPath, program("stays.mjs"), scratchFile());
  expect(shell).toBeGreaterThan(0);
  await expect.poll(() => isAlive(shell), { timeout: 20_000 }).toBe(false);
});

test.skipIf(!existsSync("/proc/self/cmdline"))("no shell remains if its note file cannot be written", async () => {
  const folder = scratchFile("missing");
  const commandLine = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  };
  const shells = (): string[] => readdirSync("/proc").filter((pid) => commandLine(pid).includes(folder));
  const { starting } = createReaper(folder);
  for (const mark of ["a=1", "b=2"]) expect(() => starting(mark)).toThrow("ENOENT");
  await expect.poll(shells).toEqual([]);
});

test("the shell removes its note file only after the end of its worker", async () => {
  const folder = scratchFolder();
  const worker = killedWhen("registered", folder, process.execPath, program("stays.mjs"), scratchFile());
  expect(worker).toBeGreaterThan(0);
  for (let remaining = notes(folder); remaining.length > 0; remaining = notes(folder))
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect(isAlive(worker)).toBe(false);
});

test("a new shell also ends the workers of a shell that was killed, except those that have ended", async () => {
  const folder = scratchFolder();
  const reaper = createReaper(folder);
  onTestFinished(() => reaper.close());
  const workers = ["first", "ended", "second"].map((name) => {
    const { pid = 0 } = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      detached: true,
      stdio: "ignore",
    });
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, "SIGKILL");
    });
    return { mark: `reaper-test=${name}`, pid };
  });
  const [first, ended, second] = workers;
  for (const worker of [first, ended]) if (worker) reaper.started(worker.mark, worker.pid);
  reaper.ended(ended?.mark ?? "");
  const shellOf = (): number => Number(notes(folder)[0]?.slice("reaper.".length));
  const killed = shellOf();
  process.kill(killed, "SIGKILL");
  await expect.poll(() => notes(folder)).toEqual([]);
  if (second) reaper.started(second.mark, second.pid);
  await reaper.close();
  await expect.poll(() => workers.map(({ pid }) => isAlive(pid))).toEqual([false, true, false]);
});

/** Starts a process in the role of a shell whose workers do not end. */
function holdNote(folder: string): { note: string; release(): void } {
  const holder = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  onTestFinished(() => void holder.kill("SIGKILL"));
  const note = join(folder, `reaper.${holder.pid}`);
  writeFileSync(note, "");
  return { note, release: () => void holder.kill("SIGKILL") };
}

test("a service waits for a running shell, but not for a dead shell", async () => {
  const folder = scratchFolder();
  const endedPid = spawnSync(process.execPath, ["-e", ""]).pid;
  writeFileSync(join(folder, `reaper.${endedPid}`), "");
  const reaper = createReaper(folder);
  onTestFinished(() => reaper.close());
  await reaper.waitForPredecessors();
  expect(notes(folder)).toEqual([]);

  const { note, release } = holdNote(folder);
  const waiting = reaper.waitForPredecessors();
  expect([await isPending(waiting), existsSync(note)]).toEqual([true, true]);
  release();
  await waiting;
  expect(notes(folder)).toEqual([]);
});

test("a service starts no worker while workers of a killed service are still ending", async () => {
  const rig = await useLocalService({ images, timings: shortTimings });
  const jobs = await rig.jobsOn("tool", { workersMin: 1 });
  await jobs.healthBecomes(({ workers }) => workers["ready"] === 1);
  const { release } = holdNote(rig.dataFolder);
  await rig.restart();
  const id = await jobs.submit({ do: "echo" });
  for (let check = 0; check < 10; check++) {
    expect((await jobs.health()).workers).toMatchObject({ initializing: 0, idle: 0, running: 0 });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  release();
  expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED" });
  await rig.stop();
  expect(notes(rig.dataFolder)).toEqual([]);
});
