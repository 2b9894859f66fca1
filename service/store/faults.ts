import { codeOf, ServiceError, StartError } from "../errors";

/** The ServiceError for a full, failing or read-only disk, or a locked store; undefined for any other error. */
export function diskFault(error: unknown, dataFolder: string): ServiceError | undefined {
  const fault = faultOf(codeOf(error), dataFolder);
  if (fault) fault.cause = error;
  return fault;
}

function faultOf(code: string, dataFolder: string): ServiceError | undefined {
  if (/^(?:SQLITE_FULL|ENOSPC|EDQUOT)$/.test(code))
    return new ServiceError("storeFull", `disk full: nothing can be written to ${dataFolder}; free some space there`);
  if (/^(?:SQLITE_READONLY|EROFS|EACCES|EPERM)/.test(code))
    return new ServiceError("storeUnavailable", `data folder is read-only: ${dataFolder}; make it writable`);
  // SQLite reports a file system that becomes read-only while the store is open as an I/O error.
  if (/^(?:SQLITE_IOERR|EIO$)/.test(code))
    return new ServiceError(
      "storeUnavailable",
      `data folder cannot be written: ${dataFolder} (${code}); check its disk, and whether it is mounted read-only`,
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

/** The StartError for a damaged store; any other error is returned unchanged. */
export function unreadable(dataFolder: string, error: unknown): unknown {
  const code = codeOf(error);
  if (!/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return error;
  return new StartError(
    `the store in ${dataFolder}: cannot be read (${code}); keep the folder, which may contain accepted jobs, and restore a backup of all its files`,
  );
}
