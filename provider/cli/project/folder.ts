import { mkdtemp, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { createFolders } from "serverless-compute-api/folders";

/** Throws if a folder has content, or is a file. */
export async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new Error(`${folder}: is not a folder; pass another one`, { cause: error });
  });
  if (names.length > 0) throw new Error(`${folder}: is not empty; pass a new or an empty folder`);
}

/** Writes the files of a new folder, all or none: they are written beside it and renamed. Throws an Error with a message for users. */
export async function writeFolder(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const target = resolve(folder);
  let temporary: string | undefined;
  try {
    createFolders(dirname(target));
    temporary = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
    for (const [name, text] of Object.entries(files)) await writeFile(join(temporary, name), text);
    await requireEmpty(target);
    // A rename does not replace an empty folder on every system.
    await rmdir(target).catch(() => undefined);
    await rename(temporary, target);
  } catch (error) {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new Error(`${folder}: cannot be written (${error.code}); pass another folder`, { cause: error });
  }
}
