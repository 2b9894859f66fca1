import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { StartError } from "../errors";
import { prepareDataFolder, storeFile } from "./data-folder";
import { openDatabase } from "./database";
import { onDisk } from "./faults";
import { lockFolder } from "./folder-lock";

const databaseName = "service.db";

/**
 * The content of a snapshot. The write-ahead log exists only after a crash. It is deleted before its database, because a folder with only
 * the log is rejected.
 */
const snapshotFiles = ["service.db-wal", databaseName, "volumes", "workers", "logs"];

/** Folder in which a snapshot or a restore prepares the new content; a kill leaves it. */
const stagingName = "incomplete";

/** Additional files deleted by a reset, which keeps the key, and the records of containers and pulled images for `prune`. */
const otherFiles = ["service.db-shm", "address", "orphaned", "service.log", "service.log.1", "service.log.2"];

/** Deletes all objects, jobs and logs of a data folder; keeps its key. Throws a StartError while a service runs on it. */
export function resetDataFolder(dataFolder: string): void {
  withLock(requireUsed(dataFolder), deleteContent);
}

/** Copies a data folder, without its key, into a new or empty folder. Throws a StartError while a service runs on it. */
export function snapshotDataFolder(dataFolder: string, target: string): void {
  withLock(requireUsed(dataFolder), (folder) => {
    if (existsSync(target) && readdirSync(target).length > 0)
      throw new StartError(`${target}: contains files; choose a new or empty folder for the snapshot`);
    const staging = join(target, stagingName);
    onDisk(resolve(target), () => {
      try {
        mkdirSync(staging, { recursive: true, mode: 0o700 });
        copyContent(folder, staging);
        moveContent(staging, target);
      } finally {
        rmSync(staging, { recursive: true, force: true });
      }
    });
  });
}

/**
 * Replaces the content of a new or existing data folder by a snapshot's content; keeps the key. If a service runs on the folder or the
 * snapshot is unusable, throws a StartError and leaves the folder unchanged.
 */
export function restoreDataFolder(dataFolder: string, source: string): void {
  if (!existsSync(storeFile(source)))
    throw new StartError(`${source}: is not a snapshot; specify a folder written by the snapshot command`);
  const folder = resolve(dataFolder);
  onDisk(folder, () => prepareDataFolder(folder, stagingName));
  withLock(folder, () => {
    const staging = join(folder, stagingName);
    rmSync(staging, { recursive: true, force: true });
    try {
      mkdirSync(staging, { mode: 0o700 });
      copyContent(source, staging);
      // Throws for a damaged store and for a store of another version.
      openDatabase(staging).close();
      deleteContent(folder);
      moveContent(staging, folder);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      throw new StartError(error.message.replaceAll(staging, resolve(source)));
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
  });
}

function requireUsed(dataFolder: string): string {
  const folder = resolve(dataFolder);
  if (existsSync(storeFile(folder))) return folder;
  throw new StartError(`the data folder ${folder}: no service has used it; pass the service's folder`);
}

function withLock(folder: string, work: (folder: string) => void): void {
  onDisk(folder, () => {
    const unlock = lockFolder(folder);
    try {
      work(folder);
    } finally {
      unlock();
    }
  });
}

function deleteContent(folder: string): void {
  for (const name of [...snapshotFiles, ...otherFiles]) rmSync(join(folder, name), { recursive: true, force: true });
}

function copyContent(from: string, to: string): void {
  for (const name of snapshotFiles.filter((name) => existsSync(join(from, name))))
    cpSync(join(from, name), join(to, name), { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
}

/** Moves the content into a folder, the database last: without it, the folder is not a snapshot, and no service starts on it. */
function moveContent(from: string, to: string): void {
  const otherNames = snapshotFiles.filter((name) => name !== databaseName);
  for (const name of [...otherNames, databaseName].filter((name) => existsSync(join(from, name))))
    renameSync(join(from, name), join(to, name));
}
