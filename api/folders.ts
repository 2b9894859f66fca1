import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Creates a folder and its parents, each with this mode; returns true if it did not exist. Throws the error of the system. Unlike the
 * recursion of Node, it ends in /proc, where no folder can be created.
 */
export function createFolders(folder: string, mode?: number): boolean {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) createFolder(path, mode);
  return missing.length > 0;
}

function createFolder(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created it.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
