import { expect, test } from "vitest";
import { z } from "zod";
import { ServiceError, StartError } from "../../../../service/errors";
import { diskFault, onDisk, parseRow, unreadable } from "../../../../service/store/faults";

const coded = (code: string): Error => Object.assign(new Error("from the system"), { code });

const full = "disk full: nothing can be written to /data; free some space there";
const readOnly = "data folder is read-only: /data; make it writable";
const failing = (code: string) =>
  `data folder cannot be written: /data (${code}); check its disk and permissions, and whether it is mounted read-only`;
const forbidden = (code: string) =>
  `data folder is not accessible: /data (${code}); use it as its owner, or change its permissions`;
const locked = "store is locked: another program uses /data; close that program";

test.each([
  ["SQLITE_FULL", "storeFull", full],
  ["ENOSPC", "storeFull", full],
  ["EDQUOT", "storeFull", full],
  ["SQLITE_READONLY_DBMOVED", "storeUnavailable", readOnly],
  ["EROFS", "storeUnavailable", readOnly],
  ["EACCES", "storeUnavailable", forbidden("EACCES")],
  ["EPERM", "storeUnavailable", forbidden("EPERM")],
  ["SQLITE_IOERR_WRITE", "storeUnavailable", failing("SQLITE_IOERR_WRITE")],
  ["SQLITE_CANTOPEN", "storeUnavailable", failing("SQLITE_CANTOPEN")],
  ["EIO", "storeUnavailable", failing("EIO")],
  ["SQLITE_BUSY_TIMEOUT", "storeUnavailable", locked],
  ["SQLITE_LOCKED", "storeUnavailable", locked],
])("%s is a fault of the kind %s, and names the folder and what to do", (code, kind, message) => {
  const error = coded(code);
  const fault = diskFault(error, "/data");
  expect(fault).toBeInstanceOf(ServiceError);
  expect(fault).toMatchObject({ code: kind, message, cause: error });
  expect(() =>
    onDisk("/data", () => {
      throw error;
    }),
  ).toThrow(message);
});

const others = ["SQLITE_CONSTRAINT", "ENOENT", "EIOX", "ENOSPC2"];
test.each([
  ...others,
  ...["FULL", "READONLY", "IOERR", "CANTOPEN", "BUSY", "CORRUPT"].map((code) => `ANSQLITE_${code}`),
])("%s is no fault of the disk, and stays the same error", (code) => {
  const error = coded(code);
  expect(diskFault(error, "/data")).toBeUndefined();
  expect(unreadable("/data", error)).toBe(error);
});

const keepFolder = "keep the folder, which may contain accepted jobs, and restore a backup of all its files";

test.each([
  ["SQLITE_NOTADB", `cannot be read (SQLITE_NOTADB: from the system); ${keepFolder}`],
  ["SQLITE_CORRUPT_INDEX", `cannot be read (SQLITE_CORRUPT_INDEX: from the system); ${keepFolder}`],
  ["SQLITE_ERROR", `cannot be read (SQLITE_ERROR: from the system); ${keepFolder}`],
  ["EEXIST", "/data: is a file, below a file or a broken link; specify a folder"],
  ["ENOTDIR", "/data: is a file, below a file or a broken link; specify a folder"],
  ["ENAMETOOLONG", "/data: the path or a name in it is too long; specify a shorter path"],
  ["ELOOP", "/data: is a file, below a file or a broken link; specify a folder"],
])("%s at the start says: %s", (code, message) => {
  const error = unreadable("/data", coded(code));
  expect(error).toBeInstanceOf(StartError);
  expect(error).toMatchObject({ message: expect.stringContaining(message) });
});

test.each([
  ["a column of another type", z.object({ size: z.number() }), { size: "hush" }, "endpoints cannot be read: size: "],
  [
    "a text that is not JSON",
    z.object({ env: z.string().transform((text) => JSON.parse(text)) }),
    { env: "hush" },
    "endpoints cannot be read: invalid JSON",
  ],
])("a row with %s names its table and never its value", (_title, shape, columns, expected) => {
  const parse = (sql: string) => () => onDisk("/data", () => parseRow<unknown>(sql, shape, columns));
  expect(parse("SELECT * FROM endpoints WHERE id = ?")).toThrow(expected);
  expect(parse("SELECT * FROM endpoints WHERE id = ?")).not.toThrow("hush");
  expect(parse("PRAGMA integrity_check")).toThrow("a row of store cannot be read");
});
