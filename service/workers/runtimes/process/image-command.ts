import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandLineError, splitCommandLine } from "../../command-line";
import { commandOf, handlerFileIn, typescriptExtensions } from "../../handler-files";
import type { CommandProblem, WorkerCommand } from "../runtime";

const broken = (error: string): CommandProblem => ({ error, isBroken: true });

/** The reasons why commands of `images` cannot run. */
export const commandProblems = (images: Record<string, string>): string[] =>
  Object.keys(images).flatMap((image) => {
    const command = resolveCommand(images, image, "");
    return "error" in command ? [command.error] : [];
  });

/**
 * Finds the command of an image. A command line runs unchanged; the Node worker runs a handler file, or Node itself if the file
 * `isServer`. `dockerArgs` are appended as arguments. `containerProblem` is the reason why the image does not run in a container.
 */
export function resolveCommand(
  images: Record<string, string>,
  image: string,
  dockerArgs: string,
  { containerProblem, isServer = false }: { containerProblem?: string | undefined; isServer?: boolean } = {},
): WorkerCommand | CommandProblem {
  const line = commandOf(images, image);
  if (line === undefined) {
    const imageNames = Object.keys(images);
    const availableImages =
      imageNames.length > 0 ? `images with a command: ${imageNames.join(", ")}` : "no image has a command";
    const containerHint =
      containerProblem === undefined ? "" : `, or run the image in a Docker Engine (${containerProblem})`;
    return {
      error: `the image "${image}" has no command on this machine (${availableImages}); start the service with --image ${image}=COMMAND, where COMMAND is a command line or a .mjs, .js or .ts handler file${containerHint}`,
    };
  }
  try {
    const words = splitCommandLine(line);
    const args = splitCommandLine(dockerArgs);
    const [file, ...rest] = words;
    if (file === undefined)
      return broken(`the command of the image "${image}" is empty; set it with --image ${image}=COMMAND`);
    const handler = handlerFileIn(words);
    if (handler !== undefined) return handlerCommand(image, handler, args, isServer);
    return { file, args: [...rest, ...args], channel: false };
  } catch (error) {
    if (error instanceof CommandLineError)
      return broken(`the command of the image "${image}" cannot be read: ${error.message}`);
    throw error;
  }
}

function handlerCommand(
  image: string,
  handler: string,
  args: string[],
  isServer: boolean,
): WorkerCommand | CommandProblem {
  if (!existsSync(handler)) {
    return broken(
      `the handler file ${handler} of the image "${image}" does not exist; specify an existing file with --image ${image}=FILE`,
    );
  }
  const programs = isServer ? [handler] : [hostProgram(), handler];
  const typescriptPrograms = programs.filter((program) => typescriptExtensions.includes(extname(program)));
  const loader = typescriptPrograms.length > 0 ? typescriptLoader(typescriptPrograms) : [];
  if (loader === undefined) {
    return broken(
      `the handler file ${handler} of the image "${image}" is TypeScript, which Node ${process.versions.node} cannot run; run npm install tsx in its folder, or use Node 22.18 or later`,
    );
  }
  // Without this flag, every crash report ends with the version of Node.
  const nodeFlags = ["--no-extra-info-on-fatal-exception", ...loader];
  return { file: process.execPath, args: [...nodeFlags, ...programs, ...args], channel: !isServer };
}

/** Path of the Node worker. In a source tree, an up-to-date compiled file is preferred, because it starts three times as fast. */
function hostProgram(): string {
  const sibling = join(__dirname, "node-host.js");
  if (existsSync(sibling)) return sibling;
  const source = join(__dirname, "node-host.ts");
  const compiled = join(__dirname, "..", "..", "..", "dist", "workers", "runtimes", "process", "node-host.js");
  return existsSync(compiled) && statSync(compiled).mtimeMs >= statSync(source).mtimeMs ? compiled : source;
}

/**
 * Node flags for running TypeScript; undefined if Node cannot run it. tsx is preferred if the project of one of the programs has it,
 * because Node's type stripping does not support enums or imports without an extension.
 */
function typescriptLoader(programs: string[]): string[] | undefined {
  const folders = programs.flatMap((program) => createRequire(program).resolve.paths("tsx") ?? []);
  // Node caches failed lookups, so it searches only a folder that has tsx, which may be installed while the service runs.
  const folder = folders.find((candidate) => existsSync(join(candidate, "tsx", "package.json")));
  if (folder !== undefined) return ["--import", pathToFileURL(createRequire(join(folder, "any")).resolve("tsx")).href];
  return "typescript" in process.features && process.features.typescript ? [] : undefined;
}
