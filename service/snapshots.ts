import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { wallClock } from "serverless-compute-api/clock";
import { z } from "zod";
import { codeOf, StartError } from "./errors";
import { createJobStore } from "./queue/store";
import { createResources } from "./resources";
import { steadyClock } from "./steady-clock";
import {
  createFolder,
  deletedNames,
  isForbidden,
  prepareDataFolder,
  snapshotNames,
  stagingName,
  unknownNames,
} from "./store/data-folder";
import { openDatabase } from "./store/database";
import { damaged, onDisk, unreadable } from "./store/faults";
import { lockFolder } from "./store/folder-lock";
import { readServiceAddress } from "./store/service-address";
import { hasStore } from "./store/store-file";

const databaseName = "service.db";

/** Folder for the previous content of a data folder until it is deleted. */
const deletedName = "deleted";

/**
 * Deletes all objects, jobs and logs of a data folder; keeps its key. Throws a StartError while a service runs on it, and if files of another
 * user remain.
 */
export function resetDataFolder(dataFolder: string): void {
  withLock(requireUsed(dataFolder, isUnfinished), (folder) => {
    remove(join(folder, stagingName));
    replaceContent(folder, "reset", () => undefined);
  });
}

/** Receives a message for each file that was not copied. */
type OnNotice = (text: string) => void;
const ignoreNotice: OnNotice = () => undefined;

/**
 * Copies a data folder, without its key, into a new or empty folder. Sockets, pipes and devices are not copied. If a service runs on the
 * folder or its store is damaged, throws a StartError and leaves no snapshot.
 */
export function snapshotDataFolder(dataFolder: string, target: string, onNotice = ignoreNotice): void {
  withLock(requireUsed(dataFolder), (folder) => {
    rejectOverlap(target, folder, "choose a folder outside of it");
    onDisk(resolve(target), () => {
      if (existsSync(resolve(target)) && readdirSync(resolve(target)).length > 0)
        throw new StartError(`${target}: contains files; choose a new or empty folder for the snapshot`);
      withCheckedCopy(folder, target, onNotice, (copy) => moveContent(copy, target));
    });
  });
}

/**
 * Replaces the content of a new or existing data folder by a snapshot's content; keeps the key. If a service runs on the folder, if another
 * program wrote its store, or if the snapshot is unusable, throws a StartError and leaves the folder unchanged. It also throws a StartError if
 * previous files remain, because they are another user's.
 */
export function restoreDataFolder(dataFolder: string, source: string, onNotice = ignoreNotice): void {
  if (!onDisk(source, () => hasStore(resolve(source))))
    throw new StartError(`${source}: is not a snapshot; specify a folder written by the snapshot command`);
  const folder = resolve(dataFolder);
  rejectOverlap(source, folder, "specify a folder written by the snapshot command");
  // The service may change the store during the copy.
  if (readServiceAddress(resolve(source)) !== undefined)
    throw new StartError(
      `${source}: is the data folder of a running service; specify a folder written by the snapshot command`,
    );
  onDisk(folder, () => prepareDataFolder(folder, stagingName));
  withLock(folder, () =>
    withCheckedCopy(resolve(source), folder, onNotice, (copy) => {
      replaceContent(folder, "restore", () => moveContent(copy, folder));
    }),
  );
}

/** The path of a file or folder without links; a path that does not exist is resolved up to its first folder that does. */
function realPath(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path);
  return join(realPath(dirname(path)), basename(path));
}

/** Throws a StartError if a snapshot's folder contains the data folder, or is inside of it. */
function rejectOverlap(snapshot: string, dataFolder: string, remedy: string): void {
  const [inner = "", outer = ""] = [realPath(resolve(snapshot)), realPath(dataFolder)].sort(
    (a, b) => b.length - a.length,
  );
  if (!`${inner}${sep}`.startsWith(`${outer}${sep}`)) return;
  throw new StartError(`${snapshot}: overlaps with the data folder ${dataFolder}; ${remedy}`);
}

/** Copies the content of a data folder to a folder below `target`, checks its store, and calls `use`; finally deletes the copy. */
function withCheckedCopy(source: string, target: string, onNotice: OnNotice, use: (copy: string) => void): void {
  createFolder(resolve(target), target);
  const copy = join(resolve(target), stagingName);
  remove(copy);
  try {
    mkdirSync(copy, { mode: 0o700 });
    copyContent(source, copy, onNotice);
    checkStore(copy);
    use(copy);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    throw new StartError(error.message.replaceAll(copy, source));
  } finally {
    remove(copy);
  }
}

const integrityRow = z.object({ integrity_check: z.string() });

/** Throws a StartError if a store is damaged: its pages, or a row that the start of a service reads. */
function checkStore(folder: string): void {
  const database = openDatabase(folder);
  try {
    const fault = database.query("PRAGMA integrity_check(1)", integrityRow).get()?.integrity_check;
    if (fault !== "ok") throw damaged(folder, String(fault));
    const [orphan] = database.query("PRAGMA foreign_key_check", z.object({ table: z.string() })).all();
    if (orphan) throw damaged(folder, `a row of ${orphan.table} refers to a missing row`);
    const options = { database, clock: wallClock, templateRelease: 0, stock: {}, workerQuota: () => undefined };
    createResources(options).checkRows();
    createJobStore(database, steadyClock(wallClock)).live();
  } catch (error) {
    throw unreadable(folder, error);
  } finally {
    database.close();
  }
}

/** Returns true for the folder of a service whose reset or restore has not ended, and that has no store. */
const isUnfinished = (folder: string): boolean =>
  [stagingName, deletedName].some((name) => existsSync(join(folder, name))) &&
  existsSync(join(folder, "lock")) &&
  unknownNames(folder).every((name) => name === stagingName);

function requireUsed(dataFolder: string, isUsable: (folder: string) => boolean = () => false): string {
  const folder = resolve(dataFolder);
  if (onDisk(folder, () => hasStore(folder) || isUsable(folder))) return folder;
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

/**
 * Replaces the content of a data folder by what `fill` adds. The previous content is moved aside and deleted at the end, because a part of it
 * may not be deletable.
 */
function replaceContent(folder: string, command: "reset" | "restore", fill: () => void): void {
  const aside = join(folder, deletedName);
  remove(aside);
  const names = deletedNames(folder, command);
  mkdirSync(aside, { mode: 0o700 });
  const moved: string[] = [];
  try {
    for (const name of names) {
      renameSync(join(folder, name), join(aside, name));
      moved.push(name);
    }
    fill();
  } catch (error) {
    // The store comes first. A part that cannot be moved back remains aside, without an effect on the others.
    for (const name of moved) {
      try {
        rmSync(join(folder, name), { recursive: true, force: true });
        renameSync(join(aside, name), join(folder, name));
      } catch {}
    }
    throw error;
  }
  remove(aside);
}

/** Deletes a folder; throws a StartError if a file in it is another user's. */
function remove(path: string): void {
  const options = { recursive: true, force: true } as const;
  try {
    rmSync(path, options);
  } catch (firstError) {
    if (!isForbidden(firstError)) throw firstError;
    try {
      makeWritable(path);
      rmSync(path, options);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      throw new StartError(`${path}: cannot be deleted (${codeOf(error)}); delete it as the owner of its files`);
    }
  }
}

/** Makes a folder and the folders in it writable, except those of another user; does not follow links. */
function makeWritable(path: string): void {
  try {
    if (!lstatSync(path).isDirectory()) return;
    chmodSync(path, 0o700);
    for (const name of readdirSync(path)) makeWritable(join(path, name));
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
}

function copyContent(from: string, to: string, onNotice: OnNotice): void {
  const isCopied = (path: string): boolean => {
    const stats = lstatSync(path);
    if (stats.isFile() || stats.isDirectory() || stats.isSymbolicLink()) return true;
    onNotice(`${path}: is a socket, a pipe or a device and was not copied`);
    return false;
  };
  const options = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, filter: isCopied } as const;
  // The folders themselves may be links to another disk, which a copy must not share.
  for (const name of snapshotNames.filter((name) => existsSync(join(from, name)))) {
    const path = realpathSync(join(from, name));
    try {
      cpSync(path, join(to, name), options);
    } catch (error) {
      throw unreadableFile(error, path) ?? error;
    }
  }
}

/** The StartError for a file at or below `path` that this user may not read; undefined for any other error. */
function unreadableFile(error: unknown, path: string): StartError | undefined {
  const file = error instanceof Error && "path" in error ? String(error.path) : "";
  if (!file.startsWith(path) || !/^(?:EACCES|EPERM)$/.test(codeOf(error))) return undefined;
  return new StartError(`${file}: cannot be read (${codeOf(error)}); make it readable for this user`);
}

/** Moves the content into a folder, the database last: without it, the folder is not a snapshot, and no service starts on it. */
function moveContent(from: string, to: string): void {
  const otherNames = snapshotNames.filter((name) => name !== databaseName);
  for (const name of [...otherNames, databaseName].filter((name) => existsSync(join(from, name))))
    renameSync(join(from, name), join(to, name));
}
