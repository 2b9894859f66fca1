import { execFileSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { useLocalService } from "../../../support/local-service";
import { send } from "../../../support/raw-http";
import { images, shortTimings } from "./support/programs";

/** Opens files until this process has as many as it may; returns a function that closes them. */
function useUpFiles(): () => void {
  const limit = (value: string): string =>
    execFileSync("prlimit", [`--pid=${process.pid}`, `--nofile${value}`, "--noheadings", "--output=SOFT"], {
      encoding: "utf8",
    }).trim();
  const before = limit("");
  limit("=2048:");
  const files: number[] = [];
  try {
    for (;;) files.push(openSync("/dev/null", "r"));
  } catch {
    return () => {
      for (const file of files.splice(0)) closeSync(file);
      limit(`=${before}:`);
    };
  }
}

test("a job waits while the service cannot start a process, however often it tries", async () => {
  const rig = await useLocalService({ images, timings: shortTimings });
  const jobs = await rig.jobsOn("tool");
  // The connection of this request, which the next ones use.
  await jobs.health();
  const release = useUpFiles();
  try {
    const id = await jobs.submit({ do: "pid" });
    const starts = async () =>
      /start_failures_total\{.*\} (\d+)/.exec((await send("GET", `${rig.root}/metrics`)).text)?.[1];
    await expect.poll(async () => Number(await starts())).toBeGreaterThan(5);
    expect((await jobs.health()).message).toContain("EMFILE");
    expect(await jobs.reaches(id, "IN_QUEUE")).not.toHaveProperty("error");
    release();
    expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED" });
  } finally {
    release();
  }
});
