import { extname, resolve } from "node:path";
import { CommandLineError, splitCommandLine } from "./command-line";

/** Extensions of handler files that Node runs as they are, and of those in TypeScript. */
const scripts = [".mjs", ".js", ".cjs"];
export const typed = [".ts", ".mts", ".cts"];

/** Returns true if a file name is the name of a program's source file, in JavaScript, TypeScript or Python. */
export const isSource = (name: string): boolean => [...scripts, ...typed, ".py"].includes(extname(name));

/** The image without its tag or digest; a registry's port is not a tag. */
const withoutTag = (image: string): string => image.replace(/@[^/@]*$/, "").replace(/:[^/:]*$/, "");

const ownValue = (images: Record<string, string>, image: string): string | undefined =>
  Object.hasOwn(images, image) ? images[image] : undefined;

/** The command of an image: by its exact name first, then by its name without the tag. */
export const commandOf = (images: Record<string, string>, image: string): string | undefined =>
  ownValue(images, image) ?? ownValue(images, withoutTag(image));

/** The handler file of a command line that consists of nothing else, which the Node worker runs. */
export const handlerIn = (words: string[]): string | undefined => {
  const [file, ...rest] = words;
  return file !== undefined && rest.length === 0 && [...scripts, ...typed].includes(extname(file))
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

/** The handler file of an image; undefined if its command is none. */
export const handlerFileOf = (images: Record<string, string>, image: string): string | undefined =>
  handlerIn(wordsOf(images, image));

/** The source file of an image: its handler file, or the first one in its command line, such as `python3 -u handler.py`. */
export function sourceFileOf(images: Record<string, string>, image: string): string | undefined {
  const file = wordsOf(images, image).find(isSource);
  return file === undefined ? undefined : resolve(file);
}
