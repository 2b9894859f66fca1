import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ServiceError, StartError } from "../../../../service/errors";
import { type Database, openDatabase } from "../../../../service/store/database";
import { createTables } from "../../../../service/store/schema";
import { scratchFolder } from "../../../support/folders";
import { changeFile, lockStore, pragmaOf } from "./support/sqlite-file";

let folder: string;
let open: Database[];

beforeEach(() => {
  folder = join(scratchFolder(), "data");
  open = [];
});
afterEach(() => {
  for (const database of open) database.close();
});

function openHere(): Database {
  const database = openDatabase(folder);
  open.push(database);
  return database;
}

const insert = (database: Database, name: string): void =>
  database
    .prepare(
      "INSERT INTO secrets (id, name, value, created_at, updated_at, value_updated_at) VALUES (?, ?, 'v', 0, 0, 0)",
    )
    .run(name, name);
const pragma = (name: string): unknown => pragmaOf(join(folder, "service.db"), name);
const names = (database: Database): string[] =>
  database
    .query("SELECT name FROM secrets ORDER BY name", z.object({ name: z.string() }))
    .all()
    .map(({ name }) => name);

describe("a data folder", () => {
  test("is rejected while a service uses it, with folder and process in the message, and is free once the store is closed", () => {
    const first = openHere();
    expect(openHere).toThrow(StartError);
    expect(openHere).toThrow(`the data folder ${folder} is in use by another local service (process ${process.pid})`);
    insert(first, "kept");
    first.close();
    expect(names(openHere())).toEqual(["kept"]);
  });

  test("is created for its owner only, with a .gitignore that is never overwritten, because it contains the key", () => {
    openHere().close();
    const ignored = join(folder, ".gitignore");
    expect([statSync(folder).mode & 0o777, readFileSync(ignored, "utf8")]).toEqual([0o700, "*\n"]);
    writeFileSync(ignored, "*\n!notes.md\n");
    openHere();
    expect(readFileSync(ignored, "utf8")).toBe("*\n!notes.md\n");
  });

  test.each([
    [99, /the store .*service\.db: was written by a newer release \(store version 99, this release supports 16\); use/],
    [13, /the file .*service\.db: is not a store of this service \(its version is 13\); choose another folder/],
  ])("of version %i is rejected, unlocked and not changed", (version, message) => {
    openHere().close();
    const connection = openHere();
    connection.prepare(`PRAGMA user_version = ${version}`).run();
    connection.close();
    expect(openHere).toThrow(message);
    expect(openHere).toThrow(StartError);
    expect(pragma("user_version")).toBe(version);
  });

  test.each(["in the file", "only in the log"])("without the application id of a store, %s, is rejected", (place) => {
    const other = join(folder, "other");
    mkdirSync(other, { recursive: true });
    const statements = [
      "PRAGMA journal_mode = WAL",
      createTables.replace(/PRAGMA application_id = \d+;/, ""),
      ...(place === "in the file" ? ["PRAGMA wal_checkpoint(TRUNCATE)"] : []),
    ];
    changeFile(join(other, "service.db"), statements, () => {
      for (const name of ["service.db", "service.db-wal"]) cpSync(join(other, name), join(folder, name));
    });
    rmSync(other, { recursive: true });
    expect(openHere).toThrow(/service\.db: is not a store of this service \(another program wrote it\)/);
  });

  test("has no store until all tables exist, so a kill during the first start leaves a folder that can be used", () => {
    mkdirSync(folder);
    writeFileSync(join(folder, "service.db.new"), "part of a store");
    writeFileSync(join(folder, "service.db.new-journal"), "part of a journal");
    expect(names(openHere())).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith("service.db.new"))).toEqual([]);
  });

  test.each([
    ["is a directory", (file: string) => void mkdirSync(file), "it is a directory"],
    [
      "is a text file",
      (file: string) => writeFileSync(file, "a lock of another program".repeat(50)),
      "it is not an SQLite file",
    ],
  ])("whose lock %s is rejected with the file's name", (_what, create, reason) => {
    openHere().close();
    rmSync(join(folder, "lock"));
    create(join(folder, "lock"));
    expect(openHere).toThrow(
      `the file ${join(folder, "lock")}: is not a lock of this service (${reason}); delete it if no other program uses it`,
    );
  });

  test("whose lock cannot be opened is rejected with the folder's name and the remedy", () => {
    openHere().close();
    rmSync(join(folder, "lock"));
    symlinkSync(join(folder, "absent", "lock"), join(folder, "lock"));
    expect(openHere).toThrow(
      `data folder cannot be written: ${folder} (SQLITE_CANTOPEN); check its disk and permissions, and whether it is mounted read-only`,
    );
  });

  test("with a write-ahead log but no store is rejected, and the log is kept", () => {
    mkdirSync(folder);
    writeFileSync(join(folder, "service.db-wal"), "changes");
    expect(openHere).toThrow(/service\.db is missing, but .*; restore all files of the folder from one backup/);
    expect(readdirSync(folder)).toEqual(["service.db-wal"]);
  });

  test("that already exists keeps its mode and gets no .gitignore; only the owner can access the store", () => {
    mkdirSync(folder, { mode: 0o755 });
    openHere();
    expect(statSync(folder).mode & 0o777).toBe(0o755);
    expect(readdirSync(folder)).not.toContain(".gitignore");
    for (const name of readdirSync(folder).filter((file) => file.startsWith("service.db")))
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
  });

  test("whose store another program locks delays one change, which fails if the lock remains, and no others until its end", () => {
    const database = openHere();
    // SQLite itself waits for the lock, and the service does nothing else.
    const wait = database.query("PRAGMA busy_timeout", z.object({ timeout: z.number() }));
    for (const name of ["first", "again"]) {
      const unlock = lockStore(folder);
      expect(wait.get()).toEqual({ timeout: 250 });
      for (const attempt of [1, 2]) {
        expect(() => insert(database, name), `attempt ${attempt}`).toThrow(expect.objectContaining({ status: 503 }));
        expect(wait.get()).toEqual({ timeout: 0 });
      }
      unlock();
      insert(database, name);
    }
    expect(names(database)).toEqual(["again", "first"]);
  });
});

test("an attempt to write adds a page to the log", () => {
  const database = openHere();
  const sizes = [0, 1].map(() => {
    database.rewriteHeader();
    return statSync(join(folder, "service.db-wal")).size;
  });
  expect(sizes[1]).toBeGreaterThan(sizes[0] ?? 0);
});

describe("a transaction", () => {
  test("that throws changes nothing and runs no callbacks", () => {
    const database = openHere();
    const followed: string[] = [];
    expect(() =>
      database.transaction(() => {
        insert(database, "lost");
        database.afterCommit(() => followed.push("lost"));
        throw new Error("stop");
      }),
    ).toThrow("stop");
    database.transaction(() => insert(database, "kept"));
    expect(names(database)).toEqual(["kept"]);
    expect(followed).toEqual([]);
  });

  test.each([
    ["ENOSPC", 507, "disk full: nothing can be written to"],
    ["EROFS", 503, "data folder is read-only:"],
    ["SQLITE_READONLY_DBMOVED", 503, "data folder is read-only:"],
    ["SQLITE_IOERR_WRITE", 503, "data folder cannot be written:"],
    ["EIO", 503, "data folder cannot be written:"],
    ["SQLITE_BUSY", 503, "store is locked: another program uses"],
  ])("that fails with %s is a %i with the reason, which is also reported", (code, status, text) => {
    const faults: string[] = [];
    const database = openDatabase(folder, {
      onCallbackError: () => undefined,
      onDiskFault: (fault) => faults.push(fault),
    });
    open.push(database);
    const fail = () =>
      database.transaction(() => {
        throw Object.assign(new Error("raw"), { code });
      });
    expect(fail).toThrow(expect.objectContaining({ status }));
    expect(fail).toThrow(ServiceError);
    const report = expect.stringContaining(`${text} ${folder}`);
    expect(faults).toEqual([report, report]);
  });

  test("stays committed if a callback fails; the failure is reported and the other callbacks run", () => {
    const faults: unknown[] = [];
    const database = openDatabase(folder, {
      onCallbackError: (error) => faults.push(error),
      onDiskFault: () => undefined,
    });
    open.push(database);
    const followed: string[] = [];
    const result = database.transaction(() => {
      database.afterCommit(() => {
        throw new Error("listener");
      });
      database.afterCommit(() => followed.push("second"));
      insert(database, "kept");
      return "result";
    });
    expect([result, names(database), followed, faults.map(String)]).toEqual([
      "result",
      ["kept"],
      ["second"],
      ["Error: listener"],
    ]);
  });

  test("inside a transaction is part of it, and its callbacks wait for the outer commit", () => {
    const database = openHere();
    const received: string[] = [];
    const result = database.transaction(() => {
      database.transaction(() => {
        insert(database, "inner");
        database.afterCommit(() => received.push(`after: ${names(database)}`));
      });
      received.push("outer continues");
      insert(database, "outer");
      return 7;
    });
    expect(result).toBe(7);
    expect(received).toEqual(["outer continues", "after: inner,outer"]);
  });
});

describe("statements", () => {
  test("accept null and bytes, and return undefined for no row", () => {
    const database = openHere();
    const typeOf = database.query("SELECT typeof(?) AS type", z.object({ type: z.string() }));
    expect(typeOf.get(null)).toEqual({ type: "null" });
    expect(typeOf.get(new Uint8Array([1]))).toEqual({ type: "blob" });
    expect(database.query("SELECT 1 WHERE 0", z.unknown()).get()).toBeUndefined();
  });

  test("enforce references between tables", () => {
    const database = openHere();
    const orphan = database.prepare(
      "INSERT INTO endpoints (id, name, template_id, version, content, created_at) VALUES ('e', 'e', 'nosuch', 1, '{}', 0)",
    );
    expect(() => orphan.run()).toThrow(/FOREIGN KEY/);
  });
});

test("statements fail with an ordinary error after the store is closed", () => {
  const database = openHere();
  const insertion = database.prepare(
    "INSERT INTO secrets (id, name, value, created_at, updated_at, value_updated_at) VALUES ('late', 'late', 'v', 0, 0, 0)",
  );
  const query = database.query("SELECT name FROM secrets", z.object({ name: z.string() }));
  database.close();
  for (const late of [
    () => insertion.run(),
    () => query.get(),
    () => query.all(),
    () => database.prepare("DELETE FROM secrets"),
    () => database.transaction(() => undefined),
    () => database.afterCommit(() => undefined),
  ]) {
    expect(late).toThrow(/the store is closed|connection is not open/);
  }
  expect(names(openHere())).toEqual([]);
});
