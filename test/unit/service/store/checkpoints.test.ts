import { copyFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type Database, openDatabase } from "../../../../service/store/database";
import { scratchFolder } from "../../../support/folders";
import { countRows } from "./support/sqlite-file";

function open(folder: string): Database {
  const database = openDatabase(folder);
  onTestFinished(database.close);
  return database;
}

/** Returns a function that runs transactions, each with one new row of `size` characters. */
function inserter(database: Database) {
  const insert = database.prepare(
    "INSERT INTO secrets (id, name, value, created_at, updated_at) VALUES (?, ?, ?, 0, 0)",
  );
  let rows = 0;
  return (count: number, size = 1): void => {
    for (let row = 0; row < count; row++) {
      const name = `s${++rows}`;
      insert.run(name, name, "x".repeat(size));
    }
  };
}

/** How often the log of a data folder has begun again. */
const logRestarts = (folder: string): number => readFileSync(join(folder, "service.db-wal")).readUInt32BE(12);

test("a long log is moved into the file and begins again, although transactions follow each other", async () => {
  const folder = join(scratchFolder(), "data");
  const insert = inserter(open(folder));
  insert(1000);
  const before = logRestarts(folder);
  insert(40, 1024 * 1024);
  await expect
    .poll(() => {
      insert(10);
      return logRestarts(folder);
    })
    .toBeGreaterThan(before);
  const copy = join(scratchFolder(), "copy.db");
  await expect
    .poll(() => {
      copyFileSync(join(folder, "service.db"), copy);
      return countRows(copy, "secrets");
    })
    .toBeGreaterThanOrEqual(1040);
});

test.each([999, 1000, 1001, 2500])("a store that closes after %i transactions leaves no log and all rows", (count) => {
  const folder = join(scratchFolder(), "data");
  const database = open(folder);
  inserter(database)(count);
  database.close();
  expect(statSync(join(folder, "service.db-wal"), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  const rows = open(folder).query("SELECT count(*) AS count FROM secrets", z.object({ count: z.number() }));
  expect(rows.get()).toEqual({ count });
});
