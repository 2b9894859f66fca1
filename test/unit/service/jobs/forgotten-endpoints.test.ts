import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useJobRig } from "./support/job-rig";

test("a start takes away the logs and home of an endpoint that a killed service was about to forget", async () => {
  const rig = await useJobRig();
  const kept = await rig.endpoint("none", { workersMax: 0 });
  const gone = "gone0gone0gone";
  const paths = (id: string): string[] => [
    join(rig.dataFolder, "workers", id, "cache"),
    join(rig.dataFolder, "logs", `${id}.log`),
    join(rig.dataFolder, "logs", `${id}.log.1`),
  ];
  for (const path of [...paths(gone), ...paths(kept.id)]) {
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, "left");
  }
  await rig.restart();
  expect(paths(gone).filter((path) => existsSync(path))).toEqual([]);
  expect(paths(kept.id).filter((path) => existsSync(path))).toHaveLength(3);
  expect(existsSync(join(rig.dataFolder, "workers", gone))).toBe(false);
});
