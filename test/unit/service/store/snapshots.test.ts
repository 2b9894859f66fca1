import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  createService,
  resetDataFolder,
  restoreDataFolder,
  type Service,
  type ServiceOptions,
  snapshotDataFolder,
} from "serverless-compute-local";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { at, send } from "../../../support/raw-http";
import { discardServiceFolder } from "../../../support/service-artefacts";

let folder: string;
let data: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "snapshots-"));
  data = join(folder, "data");
});
afterEach(() => discardServiceFolder(folder));

async function whileRunning<Result>(work: (service: Service) => Promise<Result>, options: ServiceOptions = {}) {
  const service = await createService({ port: 0, dataFolder: data, runtime: "none", ...options });
  try {
    return await work(service);
  } finally {
    await service.stop(0);
  }
}
const createVolume = (name: string) => (service: Service) =>
  send("POST", `${service.url}/v2/network-volumes`, {
    key: service.apiKey,
    json: { name, size: 10, dataCenter: "EU-RO-1" },
  });
const volumeNames = async ({ url, apiKey }: Service): Promise<unknown[]> => {
  const { json } = await send("GET", `${url}/v2/network-volumes`, { key: apiKey });
  const volumes = at(json, "networkVolumes");
  return Array.isArray(volumes) ? volumes.map((volume) => at(volume, "name")) : [];
};

describe("resetDataFolder", () => {
  test("deletes objects and files, and keeps the key and files of others", async () => {
    const key = await whileRunning(async (service) => {
      await createVolume("models")(service);
      return service.apiKey;
    });
    mkdirSync(join(data, "volumes/old"), { recursive: true });
    writeFileSync(join(data, "notes.txt"), "mine");
    resetDataFolder(data);
    expect(readdirSync(data).sort()).toEqual([".gitignore", "api-key", "lock", "notes.txt"]);
    expect(readFileSync(join(data, "api-key"), "utf8").trim()).toBe(key);
  });

  test("rejects a folder that a service uses, and one that no service has used", async () => {
    await whileRunning(async () => {
      expect(() => resetDataFolder(data)).toThrow(/^the data folder \S+ is in use by another local service/);
    });
    const empty = join(folder, "empty");
    expect(() => resetDataFolder(empty)).toThrow(
      `the data folder ${empty}: no service has used it; pass the service's folder`,
    );
    expect(existsSync(empty)).toBe(false);
  });
});

describe("snapshotDataFolder and restoreDataFolder", () => {
  test("restore the objects and volumes of the snapshot, also into a new folder", async () => {
    const snapshot = join(folder, "snapshot");
    await whileRunning(createVolume("first"));
    mkdirSync(join(data, "volumes/kept"), { recursive: true });
    writeFileSync(join(data, "volumes/kept/model.bin"), "weights");
    snapshotDataFolder(data, snapshot);
    expect(statSync(snapshot).mode & 0o777).toBe(0o700);
    expect(readdirSync(snapshot)).not.toContain("api-key");
    const key = await whileRunning(async (service) => {
      await createVolume("second")(service);
      return service.apiKey;
    });
    restoreDataFolder(data, snapshot);
    expect(readFileSync(join(data, "volumes/kept/model.bin"), "utf8")).toBe("weights");
    await whileRunning(async (service) => {
      expect(await volumeNames(service)).toEqual(["first"]);
      expect(service.apiKey).toBe(key);
    });
    data = join(folder, "other");
    restoreDataFolder(data, snapshot);
    expect(await whileRunning(volumeNames)).toEqual(["first"]);
  });

  test("snapshot the write-ahead log of a killed service", async () => {
    await whileRunning(async (service) => {
      await createVolume("logged")(service);
      // The files of a running service are those that a kill leaves.
      mkdirSync(join(folder, "killed"));
      for (const name of ["service.db", "service.db-wal"])
        writeFileSync(join(folder, "killed", name), readFileSync(join(data, name)));
    });
    snapshotDataFolder(join(folder, "killed"), join(folder, "snapshot"));
    restoreDataFolder(data, join(folder, "snapshot"));
    expect(await whileRunning(volumeNames)).toEqual(["logged"]);
  });

  test("reject a folder in use, a target with files, and a source that is no snapshot, and change nothing", async () => {
    const snapshot = join(folder, "snapshot");
    await whileRunning(async (service) => {
      await createVolume("first")(service);
      expect(() => snapshotDataFolder(data, snapshot)).toThrow(/is in use by another local service/);
      expect(existsSync(snapshot)).toBe(false);
    });
    snapshotDataFolder(data, snapshot);
    expect(() => snapshotDataFolder(data, snapshot)).toThrow(
      `${snapshot}: contains files; choose a new or empty folder for the snapshot`,
    );
    await whileRunning(async () => {
      expect(() => restoreDataFolder(data, snapshot)).toThrow(/is in use by another local service/);
    });
    expect(() => restoreDataFolder(data, folder)).toThrow(
      `${folder}: is not a snapshot; name a folder written by the snapshot command`,
    );
    mkdirSync(join(folder, "damaged"));
    writeFileSync(join(folder, "damaged", "service.db"), "no database at all, but long enough to be read as one");
    expect(() => restoreDataFolder(data, join(folder, "damaged"))).toThrow(
      `the store in ${join(folder, "damaged")}: cannot be read (SQLITE_NOTADB)`,
    );
    rmSync(join(folder, "damaged"), { recursive: true });
    expect(await whileRunning(volumeNames)).toEqual(["first"]);
  });
});

describe("an ephemeral service", () => {
  beforeEach(() => void vi.stubEnv("TMPDIR", folder));
  afterEach(() => void vi.unstubAllEnvs());
  const ephemeral = { dataFolder: undefined, ephemeral: true, logLevel: "info" } as const;

  test("leaves nothing on disk after its end", async () => {
    await whileRunning(async (service) => {
      await createVolume("models")(service);
      expect(await volumeNames(service)).toEqual(["models"]);
      const used = dirname(service.apiKeyFile);
      expect(dirname(used)).toBe(folder);
      expect(statSync(used).mode & 0o777).toBe(0o700);
    }, ephemeral);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("leaves nothing on disk if it cannot start", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = address instanceof Object ? address.port : 0;
    await expect(createService({ ...ephemeral, port })).rejects.toThrow(/is taken/);
    server.close();
    await expect(createService({ ephemeral: true, dataFolder: data })).rejects.toThrow(
      "ephemeral: true is not allowed, must be false if dataFolder is set",
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});
