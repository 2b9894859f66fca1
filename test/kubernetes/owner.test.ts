import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newFolder } from "../support/folders";
import { programsWith, useCluster } from "./rig";
import { runCluster } from "./setup";

test("a cluster leaves no process, link, cgroup or folder when the process that started it is killed", async (context) => {
  const port = (await useCluster(context)).port + 800;
  const folder = newFolder();
  const owner = spawn("sleep", ["600"], { stdio: "ignore" });
  onTestFinished(() => void owner.kill("SIGKILL"));
  onTestFinished(() => runCluster(port, ["stop", folder]).then(() => undefined));
  await runCluster(port, ["start", folder], owner.pid);
  const left = async () => {
    const links = (await readdir("/sys/class/net")).filter((name) => name === `kt${port}`);
    const groups = ["", ...(await readdir("/sys/fs/cgroup"))].map((name) =>
      join("/sys/fs/cgroup", name, `kube-test-${port}`),
    );
    return [...links, ...[folder, ...groups].filter(existsSync), ...(await programsWith(`OWNER=${owner.pid}`))];
  };
  expect((await left()).length).toBeGreaterThan(3);
  owner.kill("SIGKILL");
  await expect.poll(left, { timeout: 30_000 }).toEqual([]);
});
