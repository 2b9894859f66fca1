import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "serverless-compute-api/shapes";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../../service/store/database";
import { useJobRig } from "./support/job-rig";

/** Locks the store of a running service, as another program would; the result unlocks it. */
async function lockStore(dataFolder: string): Promise<() => void> {
  const folder = await mkdtemp(join(tmpdir(), "locking-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "data"));
  await symlink(join(dataFolder, "service.db"), join(folder, "data", "service.db"));
  const locking = openDatabase(join(folder, "data"));
  onTestFinished(() => locking.close());
  locking.prepare("BEGIN IMMEDIATE").run();
  return () => void locking.prepare("ROLLBACK").run();
}

test("/runsync on a locked store responds immediately with the reason, however long it may wait for the job", async () => {
  const rig = await useJobRig();
  const { call } = await rig.endpoint("none", { workersMax: 0 });
  const unlock = await lockStore(rig.dataFolder);
  const rejected = await call("POST", `/runsync?wait=${limits.runsyncWait.max}`, { input: {} });
  expect([rejected.status, rejected.text("error")]).toEqual([503, expect.stringMatching(/^store is locked:/)]);
  unlock();
  expect((await call("GET", "/health")).json).toMatchObject({ jobs: { inQueue: 0 } });
});

test("/runsync stores the job before its wait ends", async () => {
  const rig = await useJobRig();
  const { call } = await rig.endpoint("none", { workersMax: 0 });
  const accepted = await call("POST", "/runsync?wait=1000", { input: {} });
  expect(accepted.json).toMatchObject({ status: "IN_QUEUE" });
  await rig.restart();
  expect((await call("GET", `/status/${accepted.text("id")}`)).json).toMatchObject({ status: "IN_QUEUE" });
});
