import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** A folder for code caches: whose files are trusted, and the name of the one that is meant. */
export interface CachePlace {
  folder: string;
  file: string;
  /** User ids whose files are trusted there. */
  owners: number[];
}

/** Write permissions of other users: a cache is code, and runs only if this user or the bundle's owner wrote it. */
const othersMayWrite = 0o022;

/**
 * Possible places of a bundle's code cache: beside it, written by the build or the first run, or in the user's cache
 * folder if the installation is not writable. A cache belongs to one text, one Node and one processor.
 */
export function cachePlaces(bundle: string, checksum: string, home = homedir()): CachePlace[] {
  const name = `plugin-${checksum.slice(0, 16)}-${process.version}-${process.platform}-${process.arch}.cache`;
  const me = process.getuid?.();
  // Without user ids the writer of a file is unknown: only the installation itself is as trustworthy as the bundle in it.
  if (me === undefined) return [{ folder: dirname(bundle), file: name, owners: [] }];
  return [
    { folder: dirname(bundle), file: name, owners: [me, statSync(bundle).uid] },
    { folder: join(home, ".cache", "pulumi-resource-serverless-compute"), file: name, owners: [me] },
  ];
}

/** The first cache that is there and can be trusted. */
export function readCache(places: readonly CachePlace[]): Buffer | undefined {
  for (const { folder, file, owners } of places) {
    const data = readTrusted(join(folder, file), owners);
    if (data) return data;
  }
  return undefined;
}

function readTrusted(path: string, owners: readonly number[]): Buffer | undefined {
  let handle: number | undefined;
  try {
    // A link could point to a file of another user, so the checks apply to the opened file.
    handle = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const found = fstatSync(handle);
    const ours = owners.length === 0 || (owners.includes(found.uid) && (found.mode & othersMayWrite) === 0);
    return ours && found.isFile() ? readFileSync(handle) : undefined;
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Keeps a cache in the first place that takes it; nothing is lost when none does. */
export function writeCache(places: readonly CachePlace[], data: Buffer): void {
  for (const place of places) {
    if (writePrivate(place, data)) return;
  }
}

function writePrivate({ folder, file, owners }: CachePlace, data: Buffer): boolean {
  const draft = join(folder, `.${file}.${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    if (owners.length > 0 && (!owners.includes(uid) || (mode & othersMayWrite) !== 0)) return false;
    // Whole or not at all: a second process may read it at this moment.
    const handle = openSync(draft, "wx", 0o644);
    try {
      fchmodSync(handle, 0o644);
      writeFileSync(handle, data);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, join(folder, file));
    return true;
  } catch {
    discard(draft);
    return false;
  }
}

function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // It was never made: the folder takes no files.
  }
}
