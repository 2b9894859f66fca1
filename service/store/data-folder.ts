import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFolders } from "serverless-compute-api/folders";
import { codeOf, StartError } from "../errors";
import { hasStore, sizeOf, writeAheadLog } from "./store-file";

/** Files of the service. Their names may have a suffix that begins with a dot or a dash, such as `.new`. */
export const ownFiles = [
  "address",
  "api-key",
  "charts.json",
  "cluster-id",
  "cluster-pods",
  "containers",
  "lock",
  "pulled-images.json",
  "reaper",
  "service.db",
  "service.log",
];

/** Folders of the service, and its file for Git. */
export const ownFolders = [".gitignore", "logs", "orphaned", "volumes", "workers"];

/** Names that file systems and desktops create in every folder. */
const systemNames = ["lost+found", ".DS_Store"];

/** Returns the names in a data folder that are neither the service's nor the system's. */
export const unknownNames = (dataFolder: string): string[] =>
  readdirSync(dataFolder).filter(
    (name) =>
      ![...ownFolders, ...systemNames].includes(name) &&
      !ownFiles.some((file) => name.startsWith(file) && /^(?:[.-]|$)/.test(name.slice(file.length))),
  );

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
  const path = createIn(tmpdir());
  const remove = (): void => {
    process.off("exit", remove);
    rmSync(path, { recursive: true, force: true });
  };
  process.on("exit", remove);
  return { path, remove };
}

function createIn(parent: string): string {
  try {
    return mkdtempSync(join(parent, "serverless-compute-local-"));
  } catch (error) {
    throw new StartError(
      `the folder for temporary files ${parent}: cannot be used (${codeOf(error)}); set TMPDIR to a writable folder`,
    );
  }
}

function checkNames(dataFolder: string, allowedName: string | undefined): void {
  const others = unknownNames(dataFolder).filter((name) => name !== allowedName);
  if (others.length === 0) return;
  const more = others.length > maxShownNames ? `, and ${others.length - maxShownNames} more` : "";
  throw new StartError(
    `the data folder ${dataFolder}: contains files that are not the service's (${others.slice(0, maxShownNames).join(", ")}${more}); choose a new or empty folder with --data`,
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
