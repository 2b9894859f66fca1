import { createHash } from "node:crypto";
import { type FSWatcher, readFileSync, watch } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import { CommandLineError, splitCommandLine } from "./command-line";

/** Extensions of handler files that Node runs as they are, and of those in TypeScript. */
const scripts = [".mjs", ".js", ".cjs"];
export const typed = [".ts", ".mts", ".cts"];

/** The image without its tag or digest; a registry's port is not a tag. */
const withoutTag = (image: string): string => image.replace(/@[^/@]*$/, "").replace(/:[^/:]*$/, "");

const ownValue = (images: Record<string, string>, image: string): string | undefined =>
  Object.hasOwn(images, image) ? images[image] : undefined;

/** What the service was told to run for an image: by its exact name first, then by the name without its tag. */
export const commandOf = (images: Record<string, string>, image: string): string | undefined =>
  ownValue(images, image) ?? ownValue(images, withoutTag(image));

/** The handler file that words of a command line are: it alone, which the Node worker runs. */
export const handlerIn = (words: string[]): string | undefined => {
  const [file, ...rest] = words;
  return file !== undefined && rest.length === 0 && [...scripts, ...typed].includes(extname(file))
    ? resolve(file)
    : undefined;
};

/** The handler file that runs for an image; undefined when something else does. */
export function handlerFileOf(images: Record<string, string>, image: string): string | undefined {
  try {
    return handlerIn(splitCommandLine(commandOf(images, image) ?? ""));
  } catch (error) {
    if (error instanceof CommandLineError) return undefined;
    throw error;
  }
}

/** How long a file has to be left alone before it counts as saved, ms: editors write in several steps. */
const settleTime = 100;

/** Calls `saved` with a handler file of `images` whenever its content has changed, until it is closed. */
export function watchHandlerFiles(images: Record<string, string>, saved: (file: string) => void): { close(): void } {
  const files = new Set(Object.keys(images).flatMap((image) => handlerFileOf(images, image) ?? []));
  const contents = new Map([...files].map((file) => [file, contentOf(file)]));
  const settling = new Map<string, NodeJS.Timeout>();

  function look(file: string): void {
    settling.delete(file);
    const content = contentOf(file);
    // A file that is gone is about to be replaced.
    if (content === undefined || content === contents.get(file)) return;
    contents.set(file, content);
    saved(file);
  }
  // Folders, since many editors put a new file in the place of the old one.
  const watchers = [...new Set([...files].map(dirname))].flatMap((folder): FSWatcher[] => {
    const own = [...files].filter((file) => dirname(file) === folder);
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        for (const file of own) {
          if (name !== null && name !== basename(file)) continue;
          clearTimeout(settling.get(file));
          settling.set(file, setTimeout(look, settleTime, file).unref());
        }
      });
      return [watcher.on("error", () => watcher.close())];
    } catch {
      // A folder that is not there: its workers say so.
      return [];
    }
  });
  return {
    close() {
      for (const watcher of watchers) watcher.close();
      for (const timer of settling.values()) clearTimeout(timer);
    },
  };
}

function contentOf(file: string): string | undefined {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return undefined;
  }
}
