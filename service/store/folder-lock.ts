import { lstatSync } from "node:fs";
import { join } from "node:path";
import type Libsql from "libsql";
import { codeOf, StartError } from "../errors";
import { openFile, versionOf } from "./store-file";

const notALock = (file: string, reason: string): StartError =>
  new StartError(
    `the file ${file}: is not a lock of this service (${reason}); delete it if no other program uses it, or choose another folder with --data`,
  );

/**
 * Locks a data folder; returns a function that unlocks it. Throws a StartError if another process uses the folder.
 *
 * The lock is an open write transaction on a separate file. The operating system ends it with the process, so there are no stale
 * locks. The process id is committed before, for the message of a second service.
 */
export function lockFolder(dataFolder: string): () => void {
  const file = join(dataFolder, "lock");
  if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) throw notALock(file, "it is a directory");
  const lock = openFile(file, { timeout: 0 });
  try {
    lock.exec("BEGIN IMMEDIATE");
    lock.exec(`PRAGMA user_version = ${process.pid}`);
    lock.exec("COMMIT");
    lock.exec("BEGIN IMMEDIATE");
  } catch (error) {
    const owner = readOwner(lock);
    lock.close();
    if (codeOf(error) === "SQLITE_NOTADB") throw notALock(file, "it is not an SQLite file");
    if (codeOf(error) !== "SQLITE_BUSY") throw error;
    throw new StartError(
      `the data folder ${dataFolder} is in use by another local service (process ${owner}): stop that service or choose another folder with --data`,
    );
  }
  return () => void lock.close();
}

function readOwner(lock: Libsql.Database): string {
  try {
    return String(versionOf(lock));
  } catch {
    return "unknown";
  }
}
