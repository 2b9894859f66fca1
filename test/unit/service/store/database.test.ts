import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ServiceError, StartError } from "../../../../service/errors";
import { type Database, openDatabase, readStore } from "../../../../service/store/database";
import { scratchFolder } from "../../../support/folders";
import { lockStore } from "./support/locked-store";

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

const insert = (database: Database, name: string): number =>
  database
    .prepare("INSERT INTO secrets (id, name, value, created_at, updated_at) VALUES (?, ?, 'v', 0, 0)")
    .run(name, name);
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
    [99, /newer release \(store version 99, this release supports 14\); use that release or another folder/],
    [13, /development version \(store version 13, this release supports 14\); choose a new folder with --data/],
  ])("of version %i is rejected, unlocked and not changed", (version, message) => {
    openHere().close();
    const connection = openHere();
    connection.prepare(`PRAGMA user_version = ${version}`).run();
    connection.close();
    expect(openHere).toThrow(message);
    expect(openHere).toThrow(StartError);
    expect(readStore(folder, "PRAGMA user_version", z.object({ user_version: z.number() }))?.at(0)?.user_version).toBe(
      version,
    );
  });

  test("with a damaged store is rejected with a remedy, and unlocked", () => {
    openHere().close();
    writeFileSync(join(folder, "service.db"), "this is not a database, but long enough to be read as one".repeat(20));
    expect(openHere).toThrow(/the store in .*: cannot be read .*; keep the folder, .*restore a backup/);
    expect(openHere).toThrow(/cannot be read/);
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

  test("with unrelated files is rejected and not changed", () => {
    mkdirSync(folder, { mode: 0o755 });
    for (const name of ["package.json", "README.md", "src", "a.ts", "service.ts"])
      writeFileSync(join(folder, name), "");
    expect(openHere).toThrow(
      `the data folder ${folder}: contains files that are not the service's (README.md, a.ts, package.json, and 2 more); choose a new or empty folder with --data`,
    );
    expect(readdirSync(folder)).toHaveLength(5);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  test("whose store another program locks delays a change before it fails", () => {
    const database = openHere();
    const unlock = lockStore(folder);
    const started = performance.now();
    expect(() => insert(database, "second")).toThrow(/locked/);
    expect(performance.now() - started).toBeGreaterThan(200);
    unlock();
  });
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
  ])(
    "that fails with %s is a %i with the reason, reported once until the next successful write",
    (code, status, text) => {
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
      for (let times = 0; times < 3; times++) expect(fail).toThrow(expect.objectContaining({ status }));
      expect(faults).toEqual([expect.stringContaining(`${text} ${folder}`)]);
      database.transaction(() => insert(database, "kept"));
      expect(fail).toThrow(ServiceError);
      expect(faults).toHaveLength(2);
    },
  );

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
      return insert(database, "kept");
    });
    expect([result, names(database), followed, faults.map(String)]).toEqual([
      1,
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
    "INSERT INTO secrets (id, name, value, created_at, updated_at) VALUES ('late', 'late', 'v', 0, 0)",
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
