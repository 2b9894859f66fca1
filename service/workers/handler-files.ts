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

/** The handler file of an image; undefined if its command is not a handler file. */
export const handlerFileOf = (images: Record<string, string>, image: string): string | undefined =>
  handlerFileIn(wordsOf(images, image));

/** The source file of an image: its handler file, or the first source file in a command line such as `python3 -u handler.py`. */
export function sourceFileOf(images: Record<string, string>, image: string): string | undefined {
  const file = wordsOf(images, image).find(isSource);
  return file === undefined ? undefined : resolve(file);
}
