import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { StartError } from "../../../../service/errors";
import { redoFile } from "../../../../service/store/data-folder";
import { type Database, openDatabase } from "../../../../service/store/database";

let folder: string;
let database: Database;
let log: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "redo-"));
  log = redoFile(folder);
  database = openDatabase(folder);
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

const insertion = () =>
  database.prepare("INSERT INTO secrets (id, name, value, created_at, updated_at) VALUES (?, ?, ?, 0, 0)");
const append = (...names: string[]) => database.redoLog.append(names.map((name) => [insertion(), [name, name, "v"]]));
const names = (): string[] =>
  database
    .query("SELECT name FROM secrets ORDER BY name", z.object({ name: z.string() }))
    .all()
    .map(({ name }) => name);
/** A close leaves the log alone, as a kill does. */
function reopen(): void {
  database.close();
  database = openDatabase(folder);
}

test("what was appended is in the tables after the next open, in its order", () => {
  append("b", "a");
  const renamed = database.prepare("UPDATE secrets SET name = ? WHERE id = ?");
  database.redoLog.append([[renamed, ['new\n"ü\u2028', "b"]]]);
  expect([names(), database.redoLog.isEmpty()]).toEqual([[], false]);
  reopen();
  expect([names(), database.redoLog.isEmpty()]).toEqual([["a", 'new\n"ü\u2028'], true]);
});

test("a transaction that has brought it into the tables empties the log", () => {
  append("a");
  database.transaction(() => {
    insertion().run("a", "a", "v");
    database.redoLog.settle();
    expect(database.redoLog.isEmpty()).toBe(false);
  });
  expect([database.redoLog.isEmpty(), readFileSync(log, "utf8")]).toEqual([true, ""]);
  append("b");
  reopen();
  expect(names()).toEqual(["a", "b"]);
});

test("a transaction that fails leaves the log as it was", () => {
  append("a");
  const work = () =>
    database.transaction(() => {
      database.redoLog.settle();
      throw new Error("disk full");
    });
  expect(work).toThrow("disk full");
  expect(database.redoLog.isEmpty()).toBe(false);
  reopen();
  expect(names()).toEqual(["a"]);
});

test("a kill between the commit and the end of the log's lines does nothing twice", () => {
  append("a");
  const lines = readFileSync(log);
  database.transaction(() => {
    database.prepare("DELETE FROM secrets").run();
    database.redoLog.settle();
  });
  database.close();
  writeFileSync(log, lines);
  database = openDatabase(folder);
  expect(names()).toEqual([]);
  append("b");
  reopen();
  expect(names()).toEqual(["b"]);
});

test("a kill at any byte of a line leaves all lines before it, whole", () => {
  append("a");
  const before = statSync(log).size;
  append("b", "c");
  database.close();
  const lines = readFileSync(log);
  for (let size = before; size < lines.length; size += 11) {
    const copy = mkdtempSync(join(tmpdir(), "redo-"));
    openDatabase(copy).close();
    writeFileSync(redoFile(copy), lines);
    truncateSync(redoFile(copy), size);
    database = openDatabase(copy);
    expect(names(), `${size} of ${lines.length} bytes`).toEqual(["a"]);
    database.close();
    rmSync(copy, { recursive: true });
  }
});

test("a log that does not fit its store is refused with a way out, and nothing of it is done", () => {
  append("a");
  const lines = readFileSync(log);
  reopen();
  append("b");
  database.close();
  // As if somebody had put back one of the files: the first line is done, the second is another's.
  writeFileSync(log, Buffer.concat([lines, Buffer.from(String(lines).replace("[1,", "[2,"))]));
  const open = () => openDatabase(folder);
  expect(open).toThrow(StartError);
  expect(open).toThrow(`${log}: does not fit the store beside it (UNIQUE constraint failed: secrets.name); it`);
  rmSync(log);
  database = open();
  expect(names()).toEqual(["a"]);
});

test.each([
  ["a readable line", (lines: string[]) => lines.with(1, "damaged"), "line 2 cannot be read"],
  ["a line", (lines: string[]) => lines.toSpliced(1, 1), "changes 2 to 2 are missing"],
])("a log without %s is refused, and the log is kept", (_what, without, fault) => {
  append("a");
  append("b");
  append("c");
  const lines = String(readFileSync(log)).split("\n");
  database.close();
  const damaged = without(lines).join("\n");
  // As in a backup from before both.
  rmSync(join(folder, "service.db"));
  rmSync(join(folder, "service.db-wal"), { force: true });
  rmSync(log);
  openDatabase(folder).close();
  writeFileSync(log, damaged);
  expect(() => openDatabase(folder)).toThrow(`${log}: does not fit the store beside it (${fault})`);
  expect(String(readFileSync(log))).toBe(damaged);
  rmSync(log);
  database = openDatabase(folder);
});

test("is for its owner only, and nothing is appended after the close", () => {
  expect(statSync(log).mode & 0o777).toBe(0o600);
  const { redoLog } = database;
  const statement = insertion();
  database.close();
  expect(() => redoLog.append([[statement, ["late", "late", "v"]]])).toThrow("the store is closed");
  expect(readFileSync(log, "utf8")).toBe("");
});
