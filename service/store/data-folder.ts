import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFolders } from "serverless-compute-api/folders";
import { codeOf, StartError } from "../errors";
import { hasStore, sizeOf, writeAheadLog } from "./store-file";

/** A name of the service in its data folder. */
interface OwnName {
  /** A file, whose name may have a suffix that begins with a dot or a dash, such as `.new`. */
  isFile?: true;
  /** Part of a snapshot. */
  inSnapshot?: true;
  /** Kept by a reset and a restore: the key, and the records of containers, pods and pulled images; or only by a restore. */
  isKept?: true | "restore";
}

/** Folder in which a snapshot or a restore prepares the new content; a kill leaves it. */
export const stagingName = "incomplete";

/** The content of a data folder. */
export const ownNames: Readonly<Record<string, OwnName>> = {
  "service.db": { isFile: true, inSnapshot: true },
  volumes: { inSnapshot: true },
  workers: { inSnapshot: true },
  logs: { inSnapshot: true },
  orphaned: { isKept: "restore" },
  deleted: {},
  address: { isFile: true },
  "charts.json": { isFile: true },
  "service.log": { isFile: true },
  ".gitignore": { isKept: true },
  "api-key": { isFile: true, isKept: true },
  "cluster-id": { isFile: true, isKept: true },
  "cluster-pods": { isFile: true, isKept: true },
  containers: { isFile: true, isKept: true },
  lock: { isFile: true, isKept: true },
  "pulled-images.json": { isFile: true, isKept: true },
  reaper: { isFile: true, isKept: true },
};

/**
 * The files of a store. The write-ahead log exists only after a crash. It precedes its database, because a folder with only the log is
 * rejected.
 */
const storeNames = ["service.db-wal", "service.db"];

/** The content of a snapshot. */
export const snapshotNames = [
  ...new Set([...storeNames, ...Object.keys(ownNames).filter((name) => ownNames[name]?.inSnapshot)]),
];

/** Returns the entry of {@link ownNames} for a file or folder; undefined if it is not the service's. */
function ownNameOf(name: string): OwnName | undefined {
  const entries = Object.entries(ownNames);
  const hasSuffix = (own: string): boolean => name.startsWith(own) && /^[.-]/.test(name.slice(own.length));
  return (entries.find(([own]) => own === name) ?? entries.find(([own, { isFile }]) => isFile && hasSuffix(own)))?.[1];
}

/** Names that file systems and desktops create in every folder. */
const systemNames = ["lost+found", ".DS_Store"];

/** Returns the names in a data folder that are neither the service's nor the system's. */
export const unknownNames = (dataFolder: string): string[] =>
  readdirSync(dataFolder).filter((name) => !ownNameOf(name) && !systemNames.includes(name));

/** Suffixes of files that the service itself writes; another one is that of a user's copy, such as `.bak`. */
const writtenSuffix = /(?:-(?:wal|shm|journal)|\.new(?:-journal)?|\.probe|\.[12])$/;

/** The names in a data folder that a reset or a restore deletes, beginning with the store. */
export function deletedNames(dataFolder: string, command: "reset" | "restore"): string[] {
  const isKept = (name: string): boolean => [true, command].includes(ownNameOf(name)?.isKept ?? false);
  const isDeleted = (name: string): boolean =>
    (Object.hasOwn(ownNames, name) || writtenSuffix.test(name)) && !isKept(name);
  const found = readdirSync(dataFolder).filter((name) => ownNameOf(name) && isDeleted(name));
  return [...storeNames.filter((name) => found.includes(name)), ...found.filter((name) => !storeNames.includes(name))];
}

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

/** Returns whether this user may not change a file. */
export const isForbidden = (error: unknown): boolean => /^(?:EACCES|EPERM)$/.test(codeOf(error));

/**
 * Deletes a folder with its content. Its folders that this user may not change, such as Go's module cache, are made writable first. Rejects
 * with EACCES or EPERM if files of another user remain; all others are deleted.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    if (!(await lstat(path)).isDirectory()) throw error;
    await chmod(path, 0o700).catch(() => undefined);
    for (const name of await readdir(path)) await removeFolder(join(path, name)).catch(() => undefined);
    await rm(path, { recursive: true, force: true });
  }
}

/**
 * Creates a data folder that exists until `remove` is called or the process exits. A killed process leaves it. `onNotice` receives a message
 * if files of another user remain.
 */
export function createTemporaryFolder(onNotice: (text: string) => void): { path: string; remove(): Promise<void> } {
  const path = createIn(tmpdir());
  function removeAtExit(): void {
    if (!existsSync(path)) return;
    // One by one, so that a folder that cannot be deleted leaves no store and no key. The folder itself is last.
    for (const name of [...readdirSync(path), ""]) {
      try {
        rmSync(join(path, name), { recursive: true, force: true });
      } catch {}
    }
  }
  process.on("exit", removeAtExit);
  return {
    path,
    async remove() {
      process.off("exit", removeAtExit);
      await removeFolder(path).catch((error: unknown) => {
        if (!isForbidden(error)) throw error;
        onNotice(`${path}: cannot be deleted (${codeOf(error)}); delete it as the owner of its files`);
      });
    },
  };
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
  if (others.every((name) => name === stagingName) && existsSync(join(dataFolder, "lock")))
    throw new StartError(
      `the data folder ${dataFolder}: a restore of it has not ended; repeat the restore, or run reset`,
    );
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
