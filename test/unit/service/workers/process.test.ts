import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { createInterface } from "node:readline";
import { systemClock } from "serverless-compute-api/clock";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../../scripts/child.mjs";
import { endProcesses, startProcess } from "../../../../service/workers/runtimes/process/process";
import { createReaper } from "../../../../service/workers/runtimes/process/reaper";
import { scratchFolder } from "../../../support/folders";
import { program, scratchFile } from "./support/programs";

/** Starts a small Node program as a worker. */
function startProgram(source: string, channel: boolean, env: Record<string, string> = {}) {
  const reaper = createReaper(scratchFolder());
  onTestFinished(() => reaper.close());
  const lines: string[] = [];
  const onLine = (line: string): void => void lines.push(line);
  const program = { file: process.execPath, args: ["-e", source], env, mark: "TEST=process-test" };
  return { ...startProcess({ ...program, channel, reaper, clock: systemClock, onLine }), lines };
}

test("a worker with a channel reads and writes it as file descriptor 3", async () => {
  const source = `const channel = new net.Socket({ fd: 3 });
    channel.once("data", (request) => channel.end("re: " + request));`;
  const { channel, ended } = startProgram(source, true);
  if (!channel) throw new Error("the worker has no channel");
  channel.write("request\n");
  const lines: string[] = [];
  for await (const line of createInterface(channel)) lines.push(line);
  expect(lines).toEqual(["re: request"]);
  expect(await ended).toMatchObject({ clean: true });
});

test.each<[string, () => unknown]>([
  ["environment", () => startProgram("", false, { LONG: "x".repeat(3_000_000) })],
  ["command", () => startProgram(`"${"x".repeat(3_000_000)}"`, false)],
])("a worker whose %s is too long for the system does not start, and the error says so", (_what, start) => {
  expect(start).toThrow("its environment or command is longer than this system allows; shorten env, or pass a file");
});

test("the last output of a worker is readable after its end", async () => {
  const { channel, ended } = startProgram(`fs.writeSync(3, "last"); process.exit(3)`, true);
  const read: string[] = [];
  channel?.setEncoding("utf8").on("data", (text: string) => read.push(text));
  expect(await ended).toMatchObject({ description: "ended with exit code 3" });
  expect(read.join("")).toBe("last");
});

test("an unread channel does not delay the end, and a broken channel is not an error", async () => {
  const { channel, ended, kill } = startProgram(`fs.writeSync(3, "x".repeat(1000)); setInterval(() => {}, 1000)`, true);
  const closed = new Promise((resolve) => channel?.once("close", resolve));
  kill();
  channel?.write("y".repeat(1_000_000));
  expect(await ended).toMatchObject({ description: "was killed by SIGKILL" });
  await closed;
});

test("a worker ends together with its child processes", async () => {
  const file = scratchFile();
  const child = JSON.stringify([program("stays.mjs"), file]);
  const source = `child_process.spawn(process.execPath, ${child}); setInterval(() => {}, 1000)`;
  const { ended, stop } = startProgram(source, false);
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/^\d+$/);
  stop(10_000);
  expect(await ended).toMatchObject({ description: "was stopped by the service" });
  expect(isAlive(Number(readFileSync(file, "utf8")))).toBe(false);
});

test.skipIf(!existsSync("/proc/self/environ"))(
  "a child process that has left the worker's group ends with it",
  async () => {
    const file = scratchFile();
    const child = JSON.stringify([program("stays.mjs"), file]);
    const source = `child_process.spawn(process.execPath, ${child}, { detached: true, stdio: "ignore" }).unref(); setInterval(() => {}, 1000)`;
    const { ended, stop } = startProgram(source, false, { TEST: "process-test" });
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/^\d+$/);
    const daemon = Number(readFileSync(file, "utf8"));
    onTestFinished(() => {
      if (isAlive(daemon)) process.kill(daemon, "SIGKILL");
    });
    stop(10_000);
    await ended;
    expect(isAlive(daemon)).toBe(false);
  },
);

test("a child process that has left the group counts as running while the system frees its memory", async () => {
  // A killed process has no environment during this time, so it no longer has the mark.
  const states = [
    { marked: ["7"], group: 7 },
    { marked: [], group: 7 },
    { marked: [], group: undefined },
  ];
  const killed: number[] = [];
  const hasEnded = await endProcesses(5, "TEST=process-test", {
    marked: () => states[0]?.marked ?? [],
    kill: (pid) => void killed.push(pid),
    groupOf: () => states.shift()?.group,
    isGroupRunning: () => false,
  });
  expect({ hasEnded, killed, states }).toEqual({ hasEnded: true, killed: [7], states: [] });
});

test("a worker without a channel has no file descriptor 3", async () => {
  const source = `const { status } = child_process.spawnSync("/bin/sh", ["-c", "echo x >&3"]); console.log(status !== 0)`;
  const { channel, ended, lines } = startProgram(source, false);
  await ended;
  expect([channel, lines]).toEqual([undefined, ["true"]]);
});

test("a worker has a lower processor priority than the service", async () => {
  const expected = Math.min(getPriority() + 5, 19);
  // The priority is set after the start, possibly after the first read.
  const source = `const end = Date.now() + 10_000;
    const look = () => {
      if (os.getPriority() === ${expected} || Date.now() > end) console.log(os.getPriority());
      else setTimeout(look, 10);
    };
    look();`;
  const { ended, lines } = startProgram(source, false);
  await ended;
  expect(lines).toEqual([String(expected)]);
});
