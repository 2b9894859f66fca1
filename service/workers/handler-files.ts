import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { CommandLineError, splitCommandLine } from "./command-line";

/** Extensions of JavaScript and TypeScript handler files. */
const scriptExtensions = [".mjs", ".js", ".cjs"];
export const typescriptExtensions = [".ts", ".mts", ".cts"];

/** Returns whether a file name has the extension of a JavaScript, TypeScript or Python source file. */
export const isSource = (name: string): boolean =>
  [...scriptExtensions, ...typescriptExtensions, ".py"].includes(extname(name));

/** An image name without tag and digest; a registry's port is not a tag. */
const withoutTag = (image: string): string => image.replace(/@[^/@]*$/, "").replace(/:[^/:]*$/, "");

const ownValue = (images: Record<string, string>, image: string): string | undefined =>
  Object.hasOwn(images, image) ? images[image] : undefined;

/** The command of an image, by its exact name, then by its name without the tag. */
export const commandOf = (images: Record<string, string>, image: string): string | undefined =>
  ownValue(images, image) ?? ownValue(images, withoutTag(image));

/** The handler file of a command line that consists of a single file name; the Node worker runs it. */
export const handlerFileIn = (words: string[]): string | undefined => {
  const [file, ...rest] = words;
  return file !== undefined &&
    rest.length === 0 &&
    [...scriptExtensions, ...typescriptExtensions].includes(extname(file))
    ? resolve(file)
    : undefined;
};

function wordsOf(images: Record<string, string>, image: string): string[] {
  try {
    return splitCommandLine(commandOf(images, image) ?? "");
  } catch (error) {
    if (error instanceof CommandLineError) return [];
    throw error;
  }
}

/** Resolves the program of a command, if it is a path, and source files in a folder. Throws a CommandLineError if one does not exist. */
export function resolveFiles(words: readonly string[], folder: string): string[] {
  const isFile = (word: string, index: number): boolean => isSource(word) || (index === 0 && word.includes("/"));
  const resolved = words.map((word, index) => (isFile(word, index) ? resolve(folder, word) : word));
  const missing = resolved.find((word, index) => isFile(word, index) && !existsSync(word));
  if (missing === undefined) return resolved;
  throw new CommandLineError(
    `the file ${missing} does not exist; specify an existing file, in quotes if its path contains spaces`,
  );
}

/** The source file of an image: its handler file, or the first source file in a command line such as `python3 -u handler.py`. */
export function sourceFileOf(images: Record<string, string>, image: string): string | undefined {
  const file = wordsOf(images, image).find(isSource);
  return file === undefined ? undefined : resolve(file);
}
