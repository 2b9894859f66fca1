import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { send, stringAt } from "../../../support/raw-http";
import { program, type Running, useFolder } from "./command";

const isRoot = process.getuid?.() === 0;
const user = 65534;

const folder = useFolder();
const asUser = (...args: string[]): Running => program("test/unit/service/cli/programs/as-user.ts", args);

/** Gives files to the user that {@link asUser} becomes. */
function give(path: string): void {
  if (!isRoot) return;
  chownSync(path, user, user);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name));
}

/** Creates a folder that its owner may not change, as Go's module cache; only an owner can delete it. */
function makeReadOnly(path: string): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "module.go"), "");
  chmodSync(path, 0o555);
}

/** Creates a used data folder of the user with a volume; returns it and its snapshot. */
async function usedFolder(name: string): Promise<{ data: string; snapshot: string; volume: string }> {
  const data = join(folder, name, "data");
  const snapshot = join(folder, name, "snapshot");
  await (await createService({ port: 0, dataFolder: data })).stop(0);
  give(folder);
  expect(await asUser("snapshot", snapshot, "--data", data).ended).toMatchObject({ code: 0 });
  const volume = join(data, "volumes", "v");
  mkdirSync(volume, { recursive: true });
  give(data);
  return { data, snapshot, volume };
}

describe.each(["reset", "restore"])("%s", (command) => {
  const run = ({ data, snapshot }: { data: string; snapshot: string }) =>
    asUser(command, ...(command === "restore" ? [snapshot] : []), "--data", data).ended;
  const expectResult = (data: string): void => {
    expect(existsSync(join(data, "volumes"))).toBe(false);
    expect(existsSync(join(data, "service.db"))).toBe(command === "restore");
  };

  test("deletes folders that their owner may not change", async () => {
    const used = await usedFolder(`${command}-own`);
    makeReadOnly(join(used.volume, "pkg", "mod"));
    give(used.volume);
    expect(await run(used)).toMatchObject({ code: 0, stderr: "" });
    expectResult(used.data);
    expect(readdirSync(used.data)).not.toContain("deleted");
  });

  // Without root, no file is another user's.
  test.runIf(isRoot)(
    "replaces the content even if files of another user remain, names their folder, and can be repeated",
    async () => {
      const used = await usedFolder(`${command}-other`);
      mkdirSync(join(used.volume, "weights"));
      writeFileSync(join(used.volume, "weights", "model.bin"), "");
      const { code, stderr } = await run(used);
      const remains = join(used.data, "deleted");
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${remains}: cannot be deleted (EACCES); delete it`)]);
      expectResult(used.data);
      expect(await run(used)).toMatchObject({ code: 1 });
      expectResult(used.data);
      rmSync(remains, { recursive: true, force: true });
      if (command === "restore") expect(await run(used)).toMatchObject({ code: 0, stderr: "" });
      await (await createService({ port: 0, dataFolder: used.data })).stop(0);
    },
  );
});

/** Starts a service; `deleteEndpoint` fills the home of an endpoint, deletes the endpoint, and returns the path of the home. */
async function startService(name: string) {
  const data = join(folder, name);
  give(folder);
  const service = asUser("start", "--port", "0", "--data", data, "--json");
  const addresses = z
    .object({ baseUrl: z.string(), apiKeyFile: z.string() })
    .parse(JSON.parse(await service.firstLine()));
  const key = readFileSync(addresses.apiKeyFile, "utf8").trim();
  const post = async (path: string, json: object) =>
    stringAt(await send("POST", `${addresses.baseUrl}${path}`, { key, json }), "id");
  const templateId = await post("/templates", { name: "t", imageName: "acme/none:1", isServerless: true });
  const deleteEndpoint = async (fill: (home: string) => void): Promise<string> => {
    const id = await post("/endpoints", { name: "e", templateId, workersMax: 0 });
    const home = join(data, "workers", id);
    mkdirSync(home, { recursive: true });
    for (const path of [join(data, "workers"), home]) give(path);
    fill(home);
    expect((await send("DELETE", `${addresses.baseUrl}/endpoints/${id}`, { key })).status).toBe(204);
    return home;
  };
  return { data, deleteEndpoint };
}

test("the home of a deleted endpoint is deleted with folders that their owner may not change", async () => {
  const { deleteEndpoint } = await startService("own");
  const home = await deleteEndpoint((path) => {
    makeReadOnly(join(path, "go", "pkg", "mod"));
    give(path);
  });
  await expect.poll(() => existsSync(home)).toBe(false);
});

test.runIf(isRoot)("of a deleted endpoint's home, files of another user remain alone, without retries", async () => {
  const { data, deleteEndpoint } = await startService("other");
  const home = await deleteEndpoint((path) => {
    mkdirSync(join(path, "other"));
    writeFileSync(join(path, "other", "file"), "");
    makeReadOnly(join(path, "pkg", "mod"));
    give(join(path, "pkg"));
  });
  const logged = (): string[] =>
    readFileSync(join(data, "service.log"), "utf8")
      .split("\n")
      .filter((line) => line.includes("deleted "));
  await expect.poll(logged).toEqual([expect.stringContaining("files of another user remain")]);
  expect(readdirSync(home)).toEqual(["other"]);
});
