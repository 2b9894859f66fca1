import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Place of a code cache: folder, name, and whose files are trusted there. */
export interface CachePlace {
  folder: string;
  file: string;
  /** User ids whose files are trusted there. */
  owners: number[];
}

/** Write permissions of other users: a cache is code, and runs only if this user or the bundle's owner wrote it. */
const othersMayWrite = 0o022;

/**
 * Place of a bundle's code cache: beside it, written by the build or the first run. A cache belongs to one text, one Node
 * and one processor.
 */
export function cachePlace(bundle: string, checksum: string): CachePlace {
  const name = `plugin-${checksum.slice(0, 16)}-${process.version}-${process.platform}-${process.arch}.cache`;
  const me = process.getuid?.();
  // Without user ids the writer of a file is unknown: only the installation itself is as trustworthy as the bundle in it.
  const owners = me === undefined ? [] : [me, statSync(bundle).uid];
  return { folder: dirname(bundle), file: name, owners };
}

/** Returns the cache if it exists and can be trusted. */
export function readCache({ folder, file, owners }: CachePlace): Buffer | undefined {
  let handle: number | undefined;
  try {
    // A link could point to a file of another user, so the checks apply to the opened file.
    handle = openSync(join(folder, file), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const found = fstatSync(handle);
    const ours = owners.length === 0 || (owners.includes(found.uid) && (found.mode & othersMayWrite) === 0);
    return ours && found.isFile() ? readFileSync(handle) : undefined;
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Writes a cache; a folder that others may write to or that is read-only gets none, and the next start compiles the bundle again. */
export function writeCache({ folder, file, owners }: CachePlace, data: Buffer): void {
  const draft = join(folder, `.${file}.${process.pid}`);
  try {
    const { uid, mode } = lstatSync(folder);
    if (owners.length > 0 && (!owners.includes(uid) || (mode & othersMayWrite) !== 0)) return;
    // Whole or not at all: a second process may read it at this moment.
    const handle = openSync(draft, "wx", 0o644);
    try {
      fchmodSync(handle, 0o644);
      writeFileSync(handle, data);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, join(folder, file));
  } catch {
    discard(draft);
  }
}

function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // It was never made: the folder takes no files.
  }
}
