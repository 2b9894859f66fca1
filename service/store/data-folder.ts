import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFolders } from "serverless-compute-api/folders";
import { codeOf, StartError } from "../errors";
import { hasStore, sizeOf, writeAheadLog } from "./store-file";

/** Names of the service's files, and of files that file systems and desktops create in every folder. */
const knownNames =
  /^(?:(?:api-key|address|containers|pulled-images\.json|charts\.json|cluster-id|cluster-pods|service\.log|service\.db|lock|reaper)(?:[.-].*)?|logs|workers|volumes|orphaned|\.gitignore|lost\+found|\.DS_Store)$/;

/** Maximum number of names in a message. */
const maxShownNames = 3;

/**
 * Creates a data folder without a store (mode 0700, ignored by Git: it contains a key and secrets). An existing folder is not changed. It
 * must be empty or a service's folder with all files of its store, and may also contain `allowedName`; otherwise a StartError is thrown.
 */
export function prepareDataFolder(dataFolder: string, allowedName?: string): void {
  if (createFolder(dataFolder, `the data folder ${dataFolder}`)) writeFileSync(join(dataFolder, ".gitignore"), "*\n");
  if (!hasStore(dataFolder)) {
    checkNames(dataFolder, allowedName);
    checkWriteAheadLog(dataFolder);
  }
}

/** Creates a folder and its parents (mode 0700); returns true if it did not exist. Throws a StartError that begins with `subject`. */
export function createFolder(folder: string, subject: string): boolean {
  try {
    return createFolders(folder, 0o700);
  } catch (error) {
    const code = codeOf(error);
    if (!/^(?:ENOENT|EROFS|EACCES|EPERM)$/.test(code)) throw error;
    throw new StartError(
      `${subject}: cannot be created (${code}); make the parent folder writable, or choose another folder`,
    );
  }
}

/** Replaces a file (mode 0600) in one step, so that neither a kill nor a reader finds a partial file. */
export function writeAtomically(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/**
 * Deletes a file that is only meaningful while its process runs. On a read-only disk, the file remains and is ignored once the process has
 * ended.
 */
export function removeMarker(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The disk is read-only.
  }
}

/** Creates a data folder that exists until `remove` is called or the process exits. A killed process leaves it. */
export function createTemporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "serverless-compute-local-"));
  const remove = (): void => {
    process.off("exit", remove);
    rmSync(path, { recursive: true, force: true });
  };
  process.on("exit", remove);
  return { path, remove };
}

function checkNames(dataFolder: string, allowedName: string | undefined): void {
  const unknownNames = readdirSync(dataFolder).filter((name) => !knownNames.test(name) && name !== allowedName);
  if (unknownNames.length === 0) return;
  const more = unknownNames.length > maxShownNames ? `, and ${unknownNames.length - maxShownNames} more` : "";
  throw new StartError(
    `the data folder ${dataFolder}: contains files that are not the service's (${unknownNames.slice(0, maxShownNames).join(", ")}${more}); choose a new or empty folder with --data`,
  );
}

/** Throws if the database is missing but its write-ahead log exists, because a new database would lose the changes in the log. */
function checkWriteAheadLog(dataFolder: string): void {
  const log = writeAheadLog(dataFolder);
  if (sizeOf(log) === 0) return;
  throw new StartError(
    `the store in ${dataFolder}: service.db is missing, but ${log} contains accepted jobs; restore all files of the folder from one backup`,
  );
}
