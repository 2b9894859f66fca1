import { z } from "zod";
import { codeOf, messageOf, ServiceError, StartError } from "../errors";
import { storeFile } from "./store-file";

/** The ServiceError for a full, failing or read-only disk, or a locked store; undefined for any other error. */
export function diskFault(error: unknown, dataFolder: string): ServiceError | undefined {
  const fault = faultOf(codeOf(error), dataFolder);
  if (fault) fault.cause = error;
  return fault;
}

/** A store whose file was deleted, moved or replaced while it was open. */
export class LostStore extends Error {
  override readonly name = "LostStore";
  readonly code = "LOST_STORE";
}

function faultOf(code: string, dataFolder: string): ServiceError | undefined {
  if (code === "LOST_STORE")
    return new ServiceError(
      "storeUnavailable",
      `data folder was deleted, moved or replaced: ${dataFolder}; move it back, or stop the service and start it again`,
    );
  if (/^(?:SQLITE_FULL|ENOSPC|EDQUOT)$/.test(code))
    return new ServiceError("storeFull", `disk full: nothing can be written to ${dataFolder}; free some space there`);
  if (/^(?:EACCES|EPERM)$/.test(code))
    return new ServiceError(
      "storeUnavailable",
      `data folder is not accessible: ${dataFolder} (${code}); use it as its owner, or change its permissions`,
    );
  if (/^(?:SQLITE_READONLY|EROFS)/.test(code))
    return new ServiceError("storeUnavailable", `data folder is read-only: ${dataFolder}; make it writable`);
  // SQLite reports a file system that becomes read-only while the store is open as an I/O error.
  if (/^(?:SQLITE_IOERR|SQLITE_CANTOPEN|EIO$)/.test(code))
    return new ServiceError(
      "storeUnavailable",
      `data folder cannot be written: ${dataFolder} (${code}); check its disk and permissions, and whether it is mounted read-only`,
    );
  if (/^SQLITE_(?:BUSY|LOCKED)/.test(code))
    return new ServiceError(
      "storeUnavailable",
      `store is locked: another program uses ${dataFolder}; close that program`,
    );
  return undefined;
}

/** Runs `work` on a data folder. Faults of its disk or its store are thrown as a ServiceError or a StartError. */
export function onDisk<Result>(dataFolder: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw diskFault(error, dataFolder) ?? unreadable(dataFolder, error);
  }
}

/** A row that cannot be parsed. The message contains no values, which may be secret. */
class DamagedRow extends Error {
  override readonly name = "DamagedRow";

  constructor(sql: string, error: unknown) {
    const table = /\bFROM (\w+)/.exec(sql)?.[1] ?? "store";
    super(`a row of ${table} cannot be read: ${reasonOf(error)}`);
  }
}

/** The reason why a text cannot be parsed, or a value has another shape. */
export function reasonOf(error: unknown): string {
  // The message of JSON.parse quotes the text.
  if (error instanceof SyntaxError) return "invalid JSON";
  if (!(error instanceof z.ZodError)) return messageOf(error);
  const [issue] = error.issues;
  return `${issue?.path.join(".")}: ${issue?.message}`;
}

/** Parses a row of the result of `sql`; throws a DamagedRow. */
export function parseRow<Row>(sql: string, shape: { parse(row: unknown): Row }, columns: unknown): Row {
  try {
    return shape.parse(columns);
  } catch (error) {
    throw new DamagedRow(sql, error);
  }
}

/** The StartError for a damaged store. */
export const damaged = (dataFolder: string, reason: string): StartError =>
  new StartError(
    `the store ${storeFile(dataFolder)}: cannot be read (${reason}); keep the folder, which may contain accepted jobs, and restore a backup of all its files`,
  );

/** The StartError for an error of a damaged store; any other error is returned unchanged. */
export function unreadable(dataFolder: string, error: unknown): unknown {
  if (error instanceof DamagedRow) return damaged(dataFolder, error.message);
  const code = codeOf(error);
  if (/^(?:EEXIST|ENOTDIR|ELOOP)$/.test(code))
    return new StartError(`${dataFolder}: is a file, below a file or a broken link; specify a folder`);
  if (code === "ENAMETOOLONG")
    return new StartError(`${dataFolder}: the path or a name in it is too long; specify a shorter path`);
  return /^SQLITE_(NOTADB|CORRUPT|ERROR)/.test(code) ? damaged(dataFolder, `${code}: ${messageOf(error)}`) : error;
}
