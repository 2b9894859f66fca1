import { closeSync, lstatSync, openSync, readSync, renameSync, rmSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { z } from "zod";
import { codeOf, messageOf, StartError } from "../errors";
import { applicationId, createTables, schemaNames, schemaVersion } from "./schema";

/** The database file of a data folder. */
export const storeFile = (dataFolder: string): string => join(dataFolder, "service.db");

/** The write-ahead log of a data folder's database. */
export const writeAheadLog = (dataFolder: string): string => `${storeFile(dataFolder)}-wal`;

/** The size of a file in bytes; 0 if it does not exist. */
export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** The number that identifies a file on its disk; undefined if the file does not exist. */
export const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

const notAStore = (file: string, reason: string): StartError =>
  new StartError(
    `the file ${file}: is not a store of this service (${reason}); choose another folder with --data, or restore a backup of all its files`,
  );

const newerStore = (file: string, version: number): StartError =>
  new StartError(
    `the store ${file}: was written by a newer release (store version ${version}, this release supports ${schemaVersion}); use that release or another folder`,
  );

/** Length of the header of an SQLite file, bytes. */
const headerLength = 100;

function readHeader(file: string): Buffer {
  const header = Buffer.alloc(headerLength);
  const descriptor = openSync(file, "r");
  try {
    return header.subarray(0, readSync(descriptor, header));
  } finally {
    closeSync(descriptor);
  }
}

/** Length of the header of a write-ahead log, bytes. */
const logHeaderLength = 32;

/** First bytes of a write-ahead log, without the last bit, which is the byte order of its checksums. */
const logMagic = 0x377f0682;

/**
 * Returns whether a data folder's write-ahead log begins like one. SQLite ignores and replaces any other file, with all changes in it. A full
 * disk can leave the first bytes of a log, which contains no changes.
 */
export function hasReadableLog(dataFolder: string): boolean {
  const log = writeAheadLog(dataFolder);
  if (sizeOf(log) < logHeaderLength || !statSync(log).isFile()) return true;
  return (readHeader(log).readUInt32BE(0) & ~1) >>> 0 === logMagic;
}

function fileTypeOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return "a symbolic link";
  return stats.isDirectory() ? "a directory" : "a special file";
}

/**
 * Returns whether a data folder has a store. Throws a StartError that names the file if it belongs to another program or to a newer release.
 * Only reads the header, because SQLite deletes the log of an empty file. The store may still be damaged.
 */
export function hasStore(dataFolder: string): boolean {
  const file = storeFile(dataFolder);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (!stats) return false;
  if (!stats.isFile()) throw notAStore(file, `it is ${fileTypeOf(stats)}`);
  const header = readHeader(file);
  if (header.length === 0) throw notAStore(file, "it is empty");
  if (header.length < headerLength || header.toString("latin1", 0, 16) !== "SQLite format 3\0")
    throw notAStore(file, "it is not an SQLite file");
  if (header.readUInt32BE(68) !== applicationId) throw notAStore(file, "another program wrote it");
  const version = header.readUInt32BE(60);
  if (version > schemaVersion) throw newerStore(file, version);
  return true;
}

/** Opens a file with SQLite. The driver's error for a file that cannot be opened has no code, so it is added. */
export function openFile(file: string, options?: Libsql.Options): Libsql.Database {
  try {
    return new Libsql(file, options);
  } catch (error) {
    throw Object.assign(new Error(messageOf(error), { cause: error }), { code: codeOf(error) || "SQLITE_CANTOPEN" });
  }
}

/** Creates the store of a data folder in one step, so that a kill leaves none instead of an empty one. */
export function createStoreFile(dataFolder: string): void {
  const file = storeFile(dataFolder);
  const newFile = `${file}.new`;
  for (const name of [newFile, `${newFile}-journal`]) rmSync(name, { force: true });
  // SQLite gives its other files the same mode.
  closeSync(openSync(newFile, "wx", 0o600));
  const connection = openFile(newFile);
  try {
    connection.exec(createTables);
  } finally {
    connection.close();
  }
  renameSync(newFile, file);
}

const versionRow = z.object({ user_version: z.number() });

/** The `user_version` of a file. */
export const versionOf = (connection: Libsql.Database): number =>
  versionRow.parse(connection.prepare("PRAGMA user_version").get()).user_version;

const nameRow = z.object({ name: z.string() });

/** Checks version and tables of an open store. Throws a StartError. */
export function checkTables(connection: Libsql.Database, dataFolder: string): void {
  const file = storeFile(dataFolder);
  const version = versionOf(connection);
  if (version > schemaVersion) throw newerStore(file, version);
  if (version < schemaVersion) throw notAStore(file, `its version is ${version}`);
  const rows = connection.prepare("SELECT name FROM sqlite_schema").all();
  const names = new Set(rows.map((row) => nameRow.parse(row).name));
  const missingName = schemaNames.find((name) => !names.has(name));
  if (missingName !== undefined) throw notAStore(file, `${missingName} is missing`);
}
