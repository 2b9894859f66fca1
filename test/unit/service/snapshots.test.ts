import { once } from "node:events";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { createService, resetDataFolder, restoreDataFolder, snapshotDataFolder } from "serverless-compute-local";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ensureApiKey, readApiKey } from "../../../service/store/api-key";
import { ownNames } from "../../../service/store/data-folder";
import { type Database, openDatabase } from "../../../service/store/database";
import { serviceFolder } from "../../support/folders";

let folder: string;
let data: string;
beforeEach(() => {
  folder = serviceFolder();
  data = join(folder, "data");
});

/** Runs `work` while the data folder is in use. */
function whileOpen<Result>(work: (database: Database) => Result): Result {
  const database = openDatabase(data);
  try {
    ensureApiKey(data, undefined);
    return work(database);
  } finally {
    database.close();
  }
}
const addDelegation = (name: string) => (database: Database) =>
  void database.prepare("INSERT INTO delegations VALUES (?, ?, '', '', '', '', 0)").run(name, name);
const namesIn = (database: Database): string[] =>
  database
    .query("SELECT name FROM delegations", z.object({ name: z.string() }))
    .all()
    .map(({ name }) => name);

describe("resetDataFolder", () => {
  test("deletes objects and the service's files, and keeps the key and other files", () => {
    whileOpen(addDelegation("old"));
    const key = readApiKey(data);
    mkdirSync(join(data, "volumes/old"), { recursive: true });
    for (const name of ["service.log", "service.log.1", "service.db.probe", "address"])
      writeFileSync(join(data, name), "");
    // The rest of a restore that was killed.
    mkdirSync(join(data, "incomplete"));
    writeFileSync(join(data, "incomplete/service.db"), "");
    writeFileSync(join(data, "notes.txt"), "mine");
    resetDataFolder(data);
    expect(readdirSync(data).sort()).toEqual([".gitignore", "api-key", "lock", "notes.txt"]);
    expect(readApiKey(data)).toBe(key);
  });

  test("leaves a folder in which a service starts, whatever files services have written to it", () => {
    whileOpen(addDelegation("old"));
    for (const name of Object.keys(ownNames).filter((one) => !existsSync(join(data, one))))
      writeFileSync(join(data, name), "");
    resetDataFolder(data);
    const workers = ["cluster-id", "cluster-pods", "containers", "pulled-images.json", "reaper"];
    expect(readdirSync(data).sort()).toEqual([".gitignore", "api-key", "lock", ...workers].sort());
    expect(whileOpen(namesIn)).toEqual([]);
  });

  test("keeps the user's copies of the service's files", () => {
    whileOpen(addDelegation("old"));
    const copies = ["address.csv", "service.db.bak", "service.log.old"];
    for (const name of copies) writeFileSync(join(data, name), "mine");
    mkdirSync(join(data, "service.db-2024"));
    resetDataFolder(data);
    expect(readdirSync(data)).toEqual(expect.arrayContaining([...copies, "service.db-2024"]));
    expect(existsSync(join(data, "service.db"))).toBe(false);
  });

  test.each(["deleted", "incomplete"])("changes no other program's folder or store beside a folder %s", (name) => {
    for (const [index, file] of ["address.csv", "api-key"].entries()) {
      const foreign = join(folder, `foreign-${index}`);
      mkdirSync(join(foreign, name), { recursive: true });
      writeFileSync(join(foreign, file), "mine");
      expect(() => resetDataFolder(foreign)).toThrow("no service has used it");
      expect(readdirSync(foreign).sort()).toEqual([file, name].sort());
    }
    whileOpen(addDelegation("old"));
    mkdirSync(join(data, name));
    writeFileSync(join(data, "service.db"), "the file of another program");
    expect(() => resetDataFolder(data)).toThrow("is not a store of this service");
    expect(readFileSync(join(data, "service.db"), "utf8")).toBe("the file of another program");
    // The end of a test reads the secrets of its stores.
    rmSync(join(data, "service.db"));
  });

  test("rejects a folder in use, and a folder that no service has used", () => {
    whileOpen(() =>
      expect(() => resetDataFolder(data)).toThrow(/^the data folder \S+ is in use by another local service/),
    );
    const empty = join(folder, "empty");
    expect(() => resetDataFolder(empty)).toThrow(
      `the data folder ${empty}: no service has used it; pass the service's folder`,
    );
    expect(existsSync(empty)).toBe(false);
  });
});

describe("snapshotDataFolder and restoreDataFolder", () => {
  test("restore the objects and volumes of the snapshot, also into a new folder", () => {
    const snapshot = join(folder, "snapshot");
    whileOpen(addDelegation("first"));
    mkdirSync(join(data, "volumes/kept"), { recursive: true });
    writeFileSync(join(data, "volumes/kept/model.bin"), "weights");
    snapshotDataFolder(data, snapshot);
    expect(statSync(snapshot).mode & 0o777).toBe(0o700);
    expect(readdirSync(snapshot)).not.toContain("api-key");
    whileOpen(addDelegation("second"));
    const key = readApiKey(data);
    restoreDataFolder(data, snapshot);
    expect(readFileSync(join(data, "volumes/kept/model.bin"), "utf8")).toBe("weights");
    expect([whileOpen(namesIn), readApiKey(data)]).toEqual([["first"], key]);
    data = join(folder, "other");
    restoreDataFolder(data, snapshot);
    expect(whileOpen(namesIn)).toEqual(["first"]);
  });

  test("snapshot the write-ahead log of a killed service", () => {
    const killed = join(folder, "killed");
    whileOpen((database) => {
      addDelegation("logged")(database);
      // A copy of a running service's files has the same content as after a kill.
      mkdirSync(killed);
      for (const name of ["service.db", "service.db-wal"])
        writeFileSync(join(killed, name), readFileSync(join(data, name)));
    });
    snapshotDataFolder(killed, join(folder, "snapshot"));
    restoreDataFolder(data, join(folder, "snapshot"));
    expect(whileOpen(namesIn)).toEqual(["logged"]);
  });

  test("skip sockets and pipes with a notice", async () => {
    whileOpen(addDelegation("first"));
    const volume = join(data, "volumes/kept");
    mkdirSync(volume, { recursive: true });
    writeFileSync(join(volume, "model.bin"), "weights");
    const server = createServer().listen(join(volume, "socket"));
    await once(server, "listening");
    const client = createServer().listen(join(data, "workers.sock"));
    await once(client, "listening");
    const snapshot = join(folder, "snapshot");
    const notices: string[] = [];
    snapshotDataFolder(data, snapshot, (text) => notices.push(text));
    for (const one of [server, client]) one.close();
    expect(notices).toEqual([`${join(volume, "socket")}: is a socket, a pipe or a device and was not copied`]);
    restoreDataFolder(data, snapshot);
    expect(readdirSync(volume)).toEqual(["model.bin"]);
    expect(whileOpen(namesIn)).toEqual(["first"]);
  });

  test("copy the content of linked folders, and delete only the link", () => {
    whileOpen(addDelegation("first"));
    const disk = join(folder, "disk");
    mkdirSync(join(disk, "kept"), { recursive: true });
    writeFileSync(join(disk, "kept/model.bin"), "weights");
    symlinkSync(disk, join(data, "volumes"));
    const snapshot = join(folder, "snapshot");
    snapshotDataFolder(data, snapshot);
    expect(lstatSync(join(snapshot, "volumes")).isDirectory()).toBe(true);
    resetDataFolder(data);
    expect(existsSync(join(data, "volumes"))).toBe(false);
    restoreDataFolder(data, snapshot);
    for (const volumes of [disk, join(data, "volumes")])
      expect(readFileSync(join(volumes, "kept/model.bin"), "utf8")).toBe("weights");
  });

  test("restore again after a restore was killed while it replaced the files; no service starts before that", () => {
    const snapshot = join(folder, "snapshot");
    whileOpen(addDelegation("first"));
    snapshotDataFolder(data, snapshot);
    const key = readApiKey(data);
    cpSync(snapshot, join(data, "incomplete"), { recursive: true });
    rmSync(join(data, "service.db"));
    expect(() => openDatabase(data)).toThrow(
      `the data folder ${data}: a restore of it has not ended; repeat the restore, or run reset`,
    );
    restoreDataFolder(data, snapshot);
    expect([whileOpen(namesIn), readApiKey(data)]).toEqual([["first"], key]);
    expect(readdirSync(data)).not.toContain("incomplete");
  });

  test("keep the orphaned files; a reset deletes them", () => {
    const snapshot = join(folder, "snapshot");
    whileOpen(addDelegation("first"));
    snapshotDataFolder(data, snapshot);
    const weights = join(data, "orphaned/volumes/gone/model.bin");
    mkdirSync(dirname(weights), { recursive: true });
    writeFileSync(weights, "");
    restoreDataFolder(data, snapshot);
    expect(existsSync(weights)).toBe(true);
    resetDataFolder(data);
    expect(existsSync(join(data, "orphaned"))).toBe(false);
  });

  test("reject a folder in use, a target with files, and a source that is not a snapshot, and change nothing", () => {
    const snapshot = join(folder, "snapshot");
    whileOpen((database) => {
      addDelegation("first")(database);
      expect(() => snapshotDataFolder(data, snapshot)).toThrow(/is in use by another local service/);
      expect(existsSync(snapshot)).toBe(false);
    });
    snapshotDataFolder(data, snapshot);
    expect(() => snapshotDataFolder(data, snapshot)).toThrow(
      `${snapshot}: contains files; choose a new or empty folder for the snapshot`,
    );
    whileOpen(() => expect(() => restoreDataFolder(data, snapshot)).toThrow(/is in use by another local service/));
    expect(() => restoreDataFolder(data, folder)).toThrow(
      `${folder}: is not a snapshot; specify a folder written by the snapshot command`,
    );
    const damaged = join(folder, "damaged");
    mkdirSync(damaged);
    writeFileSync(join(damaged, "service.db"), "not a database, but long enough to be read as one");
    expect(() => restoreDataFolder(data, damaged)).toThrow(
      `the file ${join(damaged, "service.db")}: is not a store of this service (it is not an SQLite file)`,
    );
    expect(whileOpen(namesIn)).toEqual(["first"]);
    const other = join(folder, "other");
    expect(() => restoreDataFolder(other, damaged)).toThrow(/is not a store of this service/);
    expect(existsSync(other)).toBe(false);
    rmSync(damaged, { recursive: true });
  });
});

describe("the folder of a snapshot", () => {
  test.each(["data", "data/new", "data/logs/new", "data/../data/x/y", "link", "link/new"])(
    "cannot overlap with the data folder: %s",
    (name) => {
      whileOpen(addDelegation("first"));
      mkdirSync(join(data, "logs"));
      symlinkSync(data, join(folder, "link"));
      const names = () => readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
      const before = names();
      const overlap = `${join(folder, name)}: overlaps with the data folder ${data}; choose a folder outside of it`;
      expect(() => snapshotDataFolder(data, join(folder, name))).toThrow(overlap);
      expect(names()).toEqual(before);
    },
  );

  test("cannot be the data folder of a restore", () => {
    whileOpen(addDelegation("first"));
    mkdirSync(join(data, "orphaned"));
    expect(() => restoreDataFolder(data, data)).toThrow(
      `${data}: overlaps with the data folder ${data}; specify a folder written by the snapshot command`,
    );
    expect(existsSync(join(data, "orphaned"))).toBe(true);
  });

  test("cannot be the data folder of a running service, which may change it during the copy", async () => {
    const running = join(folder, "running");
    const service = await createService({ dataFolder: running, port: 0, runtime: "none" });
    whileOpen(addDelegation("first"));
    const restore = () => restoreDataFolder(data, running);
    expect(restore).toThrow(
      `${running}: is the data folder of a running service; specify a folder written by the snapshot command`,
    );
    await service.stop(0);
    restore();
  });

  test.each(["file", "file/below", "loop"])("cannot be a file, be below one or be a link to itself: %s", (name) => {
    whileOpen(addDelegation("first"));
    writeFileSync(join(folder, "file"), "");
    symlinkSync(join(folder, "loop"), join(folder, "loop"));
    const target = join(folder, name);
    const message = `${target}: is a file, below a file or a broken link; specify a folder`;
    expect(() => snapshotDataFolder(data, target)).toThrow(message);
    expect(() => restoreDataFolder(data, target)).toThrow(name === "file/below" || name === "file" ? message : target);
  });
});
