import { ServiceError } from "../errors";

/** The fault of a full or read-only disk, or of a locked store, in words for the user; undefined for any other error. */
export function diskFault(error: unknown, dataFolder: string): ServiceError | undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const fault = faultOf(code, dataFolder);
  if (fault) fault.cause = error;
  return fault;
}

function faultOf(code: string, dataFolder: string): ServiceError | undefined {
  if (/^(?:SQLITE_FULL|ENOSPC|EDQUOT)$/.test(code))
    return new ServiceError("storeFull", `disk full: nothing can be written to ${dataFolder}; free some space there`);
  if (/^(?:SQLITE_READONLY|EROFS|EACCES|EPERM)/.test(code))
    return new ServiceError("storeUnavailable", `data folder is read-only: ${dataFolder}; make it writable`);
  if (/^SQLITE_(?:BUSY|LOCKED)/.test(code))
    return new ServiceError("storeUnavailable", `store is locked: another program uses ${dataFolder}; close that one`);
  return undefined;
}
