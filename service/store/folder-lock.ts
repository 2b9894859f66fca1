import { join } from "node:path";
import Libsql from "libsql";
import { z } from "zod";
import { codeOf, StartError } from "../errors";

/**
 * Locks a data folder; returns a function that unlocks it. Throws a StartError if another process uses the folder.
 *
 * The lock is an open write transaction on a separate file. The operating system ends it with the process, so there are no stale
 * locks. The process id is committed before, for the message of a second service.
 */
export function lockFolder(dataFolder: string): () => void {
  const lock = new Libsql(join(dataFolder, "lock"), { timeout: 0 });
  try {
    lock.exec("BEGIN IMMEDIATE");
    lock.exec(`PRAGMA user_version = ${process.pid}`);
    lock.exec("COMMIT");
    lock.exec("BEGIN IMMEDIATE");
  } catch (error) {
    const owner = readOwner(lock);
    lock.close();
    if (codeOf(error) !== "SQLITE_BUSY") throw error;
    throw new StartError(
      `the data folder ${dataFolder} is in use by another local service (process ${owner}): stop that service or choose another folder with --data`,
    );
  }
  return () => {
    lock.exec("ROLLBACK");
    lock.close();
  };
}

const versionRow = z.object({ user_version: z.number() });

/** The `user_version` of a file. */
export const versionOf = (connection: Libsql.Database): number =>
  versionRow.parse(connection.prepare("PRAGMA user_version").get()).user_version;

function readOwner(lock: Libsql.Database): string {
  try {
    return String(versionOf(lock));
  } catch {
    return "unknown";
  }
}
