import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { useLocalService } from "../../../support/local-service";
import { send } from "../../../support/raw-http";
import { images, shortTimings } from "./support/programs";

/** Prevents this process from opening files until the returned function is called, or the test ends. */
async function preventOpen(): Promise<() => Promise<void>> {
  const self = `--pid=${process.pid}`;
  const before = execFileSync("prlimit", [self, "--nofile", "--noheadings", "--output=SOFT"], { encoding: "utf8" });
  // It already runs when this process can start no other.
  const script = `prlimit ${self} --nofile=3: && echo && read _; prlimit ${self} --nofile=${before.trim()}:`;
  const shell = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(shell, "exit");
  const release = async (): Promise<void> => {
    shell.stdin.end();
    await ended;
  };
  onTestFinished(release);
  await once(shell.stdout, "data");
  return release;
}

test("a job waits while the service cannot start a process, however often it tries", async () => {
  const rig = await useLocalService({ images, timings: shortTimings });
  const jobs = await rig.jobsOn("tool");
  // The connection of this request, which the next ones use.
  await jobs.health();
  const release = await preventOpen();
  const id = await jobs.submit({ do: "pid" });
  const starts = async () =>
    /start_failures_total\{.*\} (\d+)/.exec((await send("GET", `${rig.root}/metrics`)).text)?.[1];
  await expect.poll(async () => Number(await starts())).toBeGreaterThan(5);
  expect((await jobs.health()).message).toContain("EMFILE");
  expect(await jobs.reaches(id, "IN_QUEUE")).not.toHaveProperty("error");
  await release();
  expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED" });
});
