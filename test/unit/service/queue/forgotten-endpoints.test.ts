import { existsSync } from "node:fs";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openDatabase } from "../../../../service/store/database";
import { scratchFolder } from "../../../support/folders";
import { useLocalService } from "../../../support/local-service";
import { stringAt } from "../../../support/raw-http";

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
}

test("a start moves unknown volumes, homes and logs to the folder orphaned, and deletes none", async () => {
  const notices: string[] = [];
  const rig = await useLocalService({ onNotice: (text) => notices.push(text) });
  const retained = await rig.jobsOn("none", { workersMax: 0 });
  const volume = { name: "v", size: 10, dataCenterId: "EU-RO-1" };
  const keptVolume = stringAt(await rig.rest("POST", "/networkvolumes", volume), "id");
  const paths = (endpointId: string, volumeId: string): string[] => [
    join("workers", endpointId, "cache"),
    join("logs", `${endpointId}.log`),
    join("logs", `${endpointId}.log.1`),
    join("volumes", volumeId, "models", "weights"),
  ];
  const [orphans, known] = [paths("gone0gone0gone", "gonevolume"), paths(retained.id, keptVolume)];
  for (const path of [...orphans, ...known]) await write(join(rig.dataFolder, path), path);
  await write(join(rig.dataFolder, "orphaned", "volumes", "gonevolume", "older"), "older");
  await rig.restart();

  for (const path of known) expect(existsSync(join(rig.dataFolder, path)), path).toBe(true);
  for (const path of orphans) expect(existsSync(join(rig.dataFolder, path)), path).toBe(false);
  const moved = join(rig.dataFolder, "orphaned");
  expect(await readFile(join(moved, "volumes", "gonevolume", "older"), "utf8")).toBe("older");
  expect(await readFile(join(moved, "volumes", "gonevolume.1", "models", "weights"), "utf8")).toBe(orphans[3]);
  for (const path of orphans.slice(0, 3)) expect(await readFile(join(moved, path), "utf8")).toBe(path);
  expect(notices).toHaveLength(4);
  expect(notices).toContain(
    `volumes/gonevolume: belongs to no network volume of the database and was moved to ${join(moved, "volumes", "gonevolume.1")}`,
  );
});

test.each(["volumes", "workers", "logs"])("a start moves no files out of a folder that %s links to", async (name) => {
  const notices: string[] = [];
  const rig = await useLocalService({ onNotice: (text) => notices.push(text) });
  const disk = scratchFolder();
  await write(join(disk, "photos", "of-another-program.log"), "mine");
  await write(join(disk, "other.log"), "mine");
  await rm(join(rig.dataFolder, name), { recursive: true, force: true });
  await symlink(disk, join(rig.dataFolder, name));
  await rig.restart();
  expect(await readFile(join(disk, "photos", "of-another-program.log"), "utf8")).toBe("mine");
  expect(await readFile(join(disk, "other.log"), "utf8")).toBe("mine");
  expect(notices).toEqual([]);
});

test("the folder of a volume is deleted with the volume", async () => {
  const rig = await useLocalService();
  const volume = { name: "v", size: 10, dataCenterId: "EU-RO-1" };
  const id = stringAt(await rig.rest("POST", "/networkvolumes", volume), "id");
  const folder = join(rig.dataFolder, "volumes", id);
  const other = join(rig.dataFolder, "volumes", "other");
  await Promise.all([write(join(folder, "weights"), ""), write(join(other, "weights"), "")]);
  expect((await rig.rest("DELETE", `/networkvolumes/${id}`)).status).toBe(204);
  await expect.poll(() => existsSync(folder)).toBe(false);
  expect(existsSync(other)).toBe(true);
});

test("the removal of a deleted volume is repeated until it succeeds", async () => {
  const rig = await useLocalService({ logLevel: "info" });
  const id = stringAt(
    await rig.rest("POST", "/networkvolumes", { name: "v", size: 10, dataCenterId: "EU-RO-1" }),
    "id",
  );
  const volumes = join(rig.dataFolder, "volumes");
  await rm(volumes, { recursive: true, force: true });
  await writeFile(volumes, "in place of the folder");
  expect((await rig.rest("DELETE", `/networkvolumes/${id}`)).status).toBe(204);
  await expect.poll(() => readFile(join(rig.dataFolder, "service.log"), "utf8")).toContain("retrying");
  await rm(volumes);
  await write(join(volumes, id, "weights"), "");
  await expect.poll(() => existsSync(join(volumes, id)), { timeout: 30_000 }).toBe(false);
});

test("a start succeeds and repeats the removal of a deleted endpoint while that fails", async () => {
  const rig = await useLocalService();
  const { id } = await rig.jobsOn("none", { workersMax: 0 });
  const workers = join(rig.dataFolder, "workers");
  await rm(workers, { recursive: true, force: true });
  await writeFile(workers, "in place of the folder");
  expect((await rig.rest("DELETE", `/endpoints/${id}`)).status).toBe(204);
  await rig.restart();
  await rm(workers);
  await write(join(workers, id, "cache"), "");
  await expect.poll(() => existsSync(join(workers, id)), { timeout: 30_000 }).toBe(false);
});

describe("a start completes the removal of an endpoint that a kill interrupted after the deletion of", () => {
  const steps = ["the endpoint", "its jobs", "its logs", "its home"] as const;

  test.each(steps.map((name, last) => ({ name, done: steps.slice(0, last + 1) })))("$name", async ({ done }) => {
    const notices: string[] = [];
    const rig = await useLocalService({ onNotice: (text) => notices.push(text) });
    const { id, run } = await rig.jobsOn("none", { workersMax: 0 });
    await run({});
    const [home, log] = [join(rig.dataFolder, "workers", id), join(rig.dataFolder, "logs", `${id}.log`)];
    await rig.restart(0, async () => {
      await Promise.all([write(join(home, "cache"), ""), write(log, ""), write(`${log}.1`, "")]);
      const database = openDatabase(rig.dataFolder);
      database.prepare("DELETE FROM endpoints WHERE id = ?").run(id);
      if (done.includes("its jobs")) database.prepare("DELETE FROM jobs WHERE endpoint_id = ?").run(id);
      database.close();
      if (done.includes("its logs")) await Promise.all([rm(log), rm(`${log}.1`)]);
      if (done.includes("its home")) await rm(home, { recursive: true });
    });
    await expect.poll(() => [home, log, `${log}.1`].filter((path) => existsSync(path))).toEqual([]);
    expect(existsSync(join(rig.dataFolder, "orphaned"))).toBe(false);
    expect(notices).toEqual([]);
    await rig.stop();
    const database = openDatabase(rig.dataFolder);
    const ids = z.object({ id: z.string() });
    const rows = ["jobs", "worker_tokens"].flatMap((table) =>
      database.query(`SELECT endpoint_id AS id FROM ${table}`, ids).all(),
    );
    database.close();
    expect(rows).toEqual([]);
  });
});
