import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandLineError, splitCommandLine } from "./command-line";

/** What runs here for an image, or why nothing does. */
export type WorkerCommand =
  | {
      file: string;
      args: string[];
      /** Whether the program speaks to the service over its file descriptor 3, as the small Node worker does. */
      channel: boolean;
    }
  | { error: string };

const scripts = [".mjs", ".js", ".cjs"];
const typed = [".ts", ".mts", ".cts"];

/** The image without its tag or digest; a port of the registry is no tag. */
const withoutTag = (image: string): string => image.replace(/@[^/]*$/, "").replace(/:[^/:]*$/, "");

/**
 * The command of a worker: the exact image name first, then the name without tag. A command line runs as it is; a handler
 * file alone runs under the small Node worker. `dockerArgs` are appended as arguments.
 */
export function resolveCommand(images: Record<string, string>, image: string, dockerArgs: string): WorkerCommand {
  const line = images[image] ?? images[withoutTag(image)];
  if (line === undefined) {
    const known = Object.keys(images);
    const have = known.length > 0 ? `images that have one: ${known.join(", ")}` : "no image has one";
    return {
      error: `the image "${image}" has no command on this machine (${have}): start the service with --image ${image}=COMMAND, where COMMAND is a command line or a .mjs, .js or .ts handler file`,
    };
  }
  try {
    const words = splitCommandLine(line);
    const args = splitCommandLine(dockerArgs);
    const [file, ...rest] = words;
    if (file === undefined)
      return { error: `the command of the image "${image}" is empty: give it one with --image ${image}=COMMAND` };
    if (rest.length === 0 && [...scripts, ...typed].includes(extname(file))) return handlerCommand(image, file, args);
    return { file, args: [...rest, ...args], channel: false };
  } catch (error) {
    if (error instanceof CommandLineError)
      return { error: `the command of the image "${image}" cannot be read: ${error.message}` };
    throw error;
  }
}

function handlerCommand(image: string, file: string, args: string[]): WorkerCommand {
  const handler = resolve(file);
  if (!existsSync(handler)) {
    return {
      error: `the handler file ${handler} of the image "${image}" does not exist: give another one with --image ${image}=FILE`,
    };
  }
  const host = hostProgram();
  const loader = [host, handler].some((one) => typed.includes(extname(one))) ? ["--import", typescriptLoader()] : [];
  return { file: process.execPath, args: [...loader, host, handler, ...args], channel: true };
}

/** The small Node worker. Beside the sources the compiled one is taken while it is up to date: it starts three times as fast. */
function hostProgram(): string {
  const beside = join(__dirname, "node-host.js");
  if (existsSync(beside)) return beside;
  const source = join(__dirname, "node-host.ts");
  const compiled = join(__dirname, "..", "dist", "workers", "node-host.js");
  return existsSync(compiled) && statSync(compiled).mtimeMs >= statSync(source).mtimeMs ? compiled : source;
}

/** tsx reads TypeScript handlers, and the worker itself where it runs from its sources. */
const typescriptLoader = (): string => pathToFileURL(createRequire(__filename).resolve("tsx")).href;
