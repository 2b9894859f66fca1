import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { Command, CommanderError } from "commander";
import { exitCodes, type Terminal } from "./terminal";

const name = "serverless-compute";

const terminal: Terminal = {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  input: () => text(process.stdin),
};

/** Runs one command line, given without the executable and its file. Returns the exit code. */
export async function main(args: readonly string[], io: Terminal = terminal): Promise<number> {
  try {
    await commandLine(io).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has reported its own errors already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    io.err(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return exitCodes.failed;
  }
}

/** A file's text, or standard input if the command line names no file. */
const readInput = (file: string | undefined, io: Terminal): Promise<string> =>
  file === undefined ? io.input() : readFile(file, "utf8");

/** The commands. Each is loaded when it runs. */
function commandLine(io: Terminal): Command {
  const { version }: { version: string } = createRequire(__filename)("pulumi-serverless-compute/package.json");
  const program = new Command(name)
    .description("Tools for stacks with resources of pulumi-serverless-compute")
    .version(`${name} ${version}`, "--version", "print the version")
    .exitOverride()
    .configureOutput({
      writeOut: (lines) => io.out(lines.trimEnd()),
      writeErr: (lines) => io.err(lines.trimEnd()),
      outputError: (line) => io.err(`${name}: ${line.replace(/^error: /, "").trimEnd()}`),
    });

  program
    .command("move")
    .description("rewrite the state of a stack with dynamic resources for the plugin; makes no API calls")
    .argument("[file]", "output of `pulumi stack export`; standard input if omitted")
    .action(async (file: string | undefined) => {
      const { moveState } = await import("./move-state.js");
      const { text: state, moved } = moveState(await readInput(file, io));
      io.out(state.trimEnd());
      io.err(`${moved} resources now belong to the plugin.`);
    });

  return program;
}
