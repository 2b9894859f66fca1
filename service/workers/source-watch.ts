import { createHash } from "node:crypto";
import { existsSync, type FSWatcher, readdirSync, readFileSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../errors";
import { pollFile } from "../file-poll";
import { isSource, sourceFileOf } from "./handler-files";

/** Time for which a file must stay unchanged before it counts as saved, ms; editors write in several steps. */
const debounceTime = 100;

/** Interval of the checks whether the folder of a source file was replaced, which its own watcher does not report, ms. */
const replacementInterval = 500;

/** Maximum number of watched folders. */
const maxFolders = 1000;

interface SourceWatchOptions {
  images: Record<string, string>;
  /** Receives a changed file and the source files of its images. */
  onSave(path: string, sources: string[]): void;
  /** Receives a message about files that are not watched. */
  onNotice(text: string): void;
}

/**
 * Watches the source files of `images` and possible imports: all JavaScript, TypeScript and Python files in and below the folder of each
 * source file, except hidden folders, node_modules and virtual environments. The source file of an image belongs to that image; any other
 * file belongs to every image whose source file is in the same folder or above.
 */
export function watchSources({ images, onSave, onNotice }: SourceWatchOptions): { close(): void } {
  const sources = new Set(Object.keys(images).flatMap((image) => sourceFileOf(images, image) ?? []));
  const roots = new Set([...sources].map(dirname));
  const watchers = new Map<string, FSWatcher>();
  const hashes = new Map<string, string>();
  const timers = new Map<string, NodeJS.Timeout>();

  function scheduleCheck(path: string): void {
    clearTimeout(timers.get(path));
    timers.set(path, setTimeout(checkFile, debounceTime, path).unref());
  }

  function checkFile(path: string): void {
    timers.delete(path);
    const hash = hashOf(path);
    // A missing file is about to be replaced.
    if (hash === undefined || hash === hashes.get(path)) return;
    hashes.set(path, hash);
    onSave(path, sources.has(path) ? [path] : [...sources].filter((source) => isBelow(path, dirname(source))));
  }

  /** Watches a folder (many editors replace files) and passes its source files to `onFile`. Returns its subfolders. */
  function watchFolder(folder: string, onFile: (path: string) => void): string[] {
    if (watchers.has(folder)) return [];
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        const path = join(folder, name ?? "");
        if (name !== null && isSource(name)) scheduleCheck(path);
        else if (name !== null && event === "rename") rewatchFolder(path);
      });
      watchers.set(
        folder,
        watcher.on("error", () => unwatchFolder(folder)),
      );
      const entries = readdirSync(folder, { withFileTypes: true });
      for (const entry of entries) if (entry.isFile() && isSource(entry.name)) onFile(join(folder, entry.name));
      const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
      return folders.filter((path) => !isExcluded(path));
    } catch (error) {
      if (/^(?:ENOSPC|EMFILE)$/.test(codeOf(error))) throw error;
      // The path is not a folder, or unreadable; a worker that needs it reports that.
      return [];
    }
  }

  function watchFolders(folders: string[], onFile: (path: string) => void): void {
    for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
      if (watchers.size >= maxFolders) {
        onNotice(`--watch: limit of ${maxFolders} folders reached; changes in ${folder} do not restart workers`);
        return;
      }
      try {
        folders.push(...watchFolder(folder, onFile));
      } catch (error) {
        onNotice(
          `--watch: ${folder}: cannot be watched (${codeOf(error)}); raise the system's limit, such as fs.inotify.max_user_watches, and start the service again`,
        );
        return;
      }
    }
  }

  function unwatchFolder(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  /** Handles a folder that was created, removed or moved. */
  function rewatchFolder(folder: string): void {
    for (const watchedFolder of watchers.keys())
      if (watchedFolder === folder || isBelow(watchedFolder, folder)) unwatchFolder(watchedFolder);
    if (roots.has(folder) || !isExcluded(folder)) watchFolders([folder], scheduleCheck);
  }

  watchFolders([...roots], (path) => hashes.set(path, hashOf(path) ?? ""));
  const rootPolls = [...roots].map((root) =>
    pollFile(
      root,
      // A new folder may get the inode of the old one.
      ({ ino, birthtimeMs }) => `${ino} ${birthtimeMs}`,
      replacementInterval,
      () => rewatchFolder(root),
    ),
  );
  return {
    close() {
      for (const poll of rootPolls) poll.close();
      for (const watcher of watchers.values()) watcher.close();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(join(folder, "/"));

/** Returns whether a folder is not watched, because it has no sources written by the user. */
const isExcluded = (folder: string): boolean =>
  /[\\/](?:\.[^\\/]*|node_modules|__pycache__)$/.test(folder) || existsSync(join(folder, "pyvenv.cfg"));

function hashOf(file: string): string | undefined {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return undefined;
  }
}
