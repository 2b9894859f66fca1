import { createHash } from "node:crypto";
import { existsSync, type FSWatcher, readdirSync, readFileSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { isSource, sourceFileOf } from "./handler-files";

/** A file has to stay unchanged for so long before it counts as saved, ms: editors write in several steps. */
const settleTime = 100;

/** Folders that are watched at most. */
const maxFolders = 1000;

interface SourceWatchOptions {
  images: Record<string, string>;
  /** Receives a changed file, and the source files of the images that it belongs to. */
  saved(changed: string, sources: string[]): void;
  /** Receives a sentence about what is not watched. */
  onNotice(text: string): void;
}

/**
 * Watches the source files of `images` with everything that they may import: the JavaScript, TypeScript and Python files in the
 * folder of each source file and below it. Hidden folders, node_modules and virtual environments are left out. A changed source
 * file of an image belongs to that image; any other file belongs to every image above it.
 */
export function watchSources({ images, saved, onNotice }: SourceWatchOptions): { close(): void } {
  const sources = new Set(Object.keys(images).flatMap((image) => sourceFileOf(images, image) ?? []));
  const watchers = new Map<string, FSWatcher>();
  const contents = new Map<string, string>();
  const settling = new Map<string, NodeJS.Timeout>();

  function settle(path: string): void {
    clearTimeout(settling.get(path));
    settling.set(path, setTimeout(check, settleTime, path).unref());
  }

  function check(path: string): void {
    settling.delete(path);
    const content = contentOf(path);
    // A file that is gone is about to be replaced.
    if (content === undefined || content === contents.get(path)) return;
    contents.set(path, content);
    saved(path, sources.has(path) ? [path] : [...sources].filter((source) => isBelow(path, dirname(source))));
  }

  /** Watches a folder, since many editors replace files, and passes its source files to `found`. Returns the folders in it. */
  function add(folder: string, found: (path: string) => void): string[] {
    if (watchers.has(folder)) return [];
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        const path = join(folder, name ?? "");
        if (name !== null && isSource(name)) settle(path);
        else if (name !== null && event === "rename") replace(path);
      });
      watchers.set(
        folder,
        watcher.on("error", () => drop(folder)),
      );
      const entries = readdirSync(folder, { withFileTypes: true });
      for (const entry of entries) if (entry.isFile() && isSource(entry.name)) found(join(folder, entry.name));
      const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
      return folders.filter((path) => !isLeftOut(path));
    } catch {
      // The path is not a folder, or unreadable; a worker that needs it reports that.
      return [];
    }
  }

  function addAll(folders: string[], found: (path: string) => void): void {
    for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
      if (watchers.size >= maxFolders) {
        onNotice(`--watch: ${maxFolders} folders are watched; changes in ${next} restart no worker`);
        return;
      }
      folders.push(...add(next, found));
    }
  }

  function drop(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  /** A folder was created, removed or moved. */
  function replace(folder: string): void {
    for (const watched of watchers.keys()) if (watched === folder || isBelow(watched, folder)) drop(watched);
    if (!isLeftOut(folder)) addAll([folder], settle);
  }

  addAll([...new Set([...sources].map(dirname))], (path) => contents.set(path, contentOf(path) ?? ""));
  return {
    close() {
      for (const watcher of watchers.values()) watcher.close();
      for (const timer of settling.values()) clearTimeout(timer);
    },
  };
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(join(folder, "/"));

/** Returns true if a folder has no sources of the user's own. */
const isLeftOut = (folder: string): boolean =>
  /[\\/](?:\.[^\\/]*|node_modules|__pycache__)$/.test(folder) || existsSync(join(folder, "pyvenv.cfg"));

function contentOf(file: string): string | undefined {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return undefined;
  }
}
