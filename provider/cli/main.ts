import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { Command, CommanderError, Help, InvalidArgumentError, Option } from "commander";
import { rejectEmptyValues, watchOutput } from "serverless-compute-api/job-commands";
import { messageOf } from "../engine/error-text";
import type { DriftFlags } from "./drift/drift";
import type { EstimateFlags } from "./estimate/estimate";
import type { ImportFlags } from "./import";
import { addJobCommands } from "./jobs/commands";
import type { MoveFlags } from "./move/move-recorded";
import type { RecoverFlags } from "./recover/recover";
import { exitCodes, settingsHelp, type Terminal } from "./terminal";
import { readText } from "./text-file";

const name = "serverless-compute";

const driftFormats = ["text", "markdown", "json", "junit"] as const satisfies readonly DriftFlags["format"][];

const providers = ["runpod-pulumi", "runpod-native", "terraform"] as const satisfies readonly MoveFlags["from"][];

const languages = ["typescript", "yaml", "python", "go"] as const satisfies readonly ImportFlags["language"][];

const languageOption = (): Option =>
  new Option("--language <language>", "language of the program; typescript by default").choices(languages);

const estimateFormats = ["table", "markdown", "json"] as const satisfies readonly EstimateFlags["format"][];

const terminal: Terminal = {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  input: () => text(process.stdin),
};

/** Runs one command line, given without the executable and its file. Returns the exit code. */
export async function main(args: readonly string[], io: Terminal = terminal): Promise<number> {
  try {
    let code = 0;
    const setExitCode = (result: number): void => {
      code = result;
    };
    await commandLine(io, setExitCode).parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    // Commander has reported its own errors already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    io.err(`${name}: ${messageOf(error)}`);
    return exitCodes.failed;
  }
}

/** A file's text, or standard input if the command line names no file. */
const readInput = (file: string | undefined, io: Terminal): Promise<string> =>
  file === undefined ? io.input() : readText(file);

/** Reads an amount in US dollars. */
function readDollars(text: string): number {
  const amount = Number(text);
  if (text.trim() !== "" && Number.isFinite(amount) && amount >= 0) return amount;
  throw new InvalidArgumentError("It must be a number, 0 or more.");
}

/** Adds a value of an option that may be repeated. */
const appendValue = (value: string, previous: string[]): string[] => [...previous, value];

/** The commands. Each is loaded when it runs; `setExitCode` receives the exit code of commands that have several. */
function commandLine(io: Terminal, setExitCode: (code: number) => void): Command {
  const { version }: { version: string } = createRequire(__filename)("pulumi-serverless-compute/package.json");
  const program = new Command(name)
    .description("Tools for stacks with resources of pulumi-serverless-compute, and for jobs of their endpoints")
    .version(`${name} ${version}`, "--version", "print the version")
    .exitOverride()
    // The defaults of flags and repeatable options are omitted.
    .configureHelp({
      optionDescription: (option) => new Help().optionDescription(option).replace(/ \(default: (false|\[\])\)$/, ""),
    })
    .configureOutput({
      writeOut: (lines) => io.out(lines.trimEnd()),
      writeErr: (lines) => io.err(lines.trimEnd()),
      outputError: (line) => io.err(`${name}: ${line.replace(/^error: /, "").trimEnd()}`),
    })
    .hook("preAction", (_program, command) => rejectEmptyValues(command));

  program
    .command("import")
    .description(
      "write a program with the objects of an account, and the file for `pulumi import`; only reads the account",
    )
    .requiredOption("--out <dir>", "folder of the new project, new or empty")
    .addOption(languageOption())
    .option("--filter <pattern>", "only objects whose complete name matches; * matches any characters, ? matches one")
    .option("--json", "print the report as JSON")
    .addHelpText("after", settingsHelp)
    .action(async ({ language = "typescript", ...flags }: Omit<ImportFlags, "language"> & Partial<ImportFlags>) =>
      setExitCode(await (await import("./import.js")).importAccount({ language, ...flags }, io)),
    );

  program
    .command("recover")
    .description("look up the objects of pending creates of a killed engine, and unfinished objects; deletes nothing")
    .option("--stack <name>", "stack to read; the selected one by default")
    .option("--cwd <dir>", "folder of the program")
    .addOption(
      new Option("--file <file>", "output of `pulumi stack export`; read instead of a stack").conflicts([
        "stack",
        "cwd",
        "yes",
      ]),
    )
    .option(
      "--import <id>",
      "import this object, although its name is not unique to the stack; repeatable",
      appendValue,
      [],
    )
    .option("--ignore <id>", "ignore this object, because this stack did not create it; repeatable", appendValue, [])
    .option(
      "--yes",
      "import the objects of pending creates into the state, clear all other pending creates, and refresh",
    )
    .option("--json", "print the report as JSON")
    .action(async (flags: RecoverFlags) =>
      setExitCode(await (await import("./recover/recover.js")).recover(flags, io)),
    );

  program
    .command("drift")
    .description("report differences between the objects of a stack and its state; changes neither")
    .option("--stack <name>", "stack to compare; the selected one by default")
    .option("--cwd <dir>", "folder of the program")
    .addOption(
      new Option(
        "--file <file>",
        "output of `pulumi refresh --preview-only --json`; read instead of a refresh",
      ).conflicts(["cwd"]),
    )
    .addOption(new Option("--format <format>", "format of the report").choices(driftFormats).default("text"))
    .action(async (flags: DriftFlags) => setExitCode(await (await import("./drift/drift.js")).drift(flags, io)));

  program
    .command("estimate")
    .description("print the cost of the endpoints and volumes in a preview")
    .argument("[file]", "output of `pulumi preview --json --show-sames`; standard input if omitted")
    .option("--prices <file>", "JSON file of prices; they override the service's catalog")
    .option(
      "--max-hourly <dollars>",
      "budget per hour at workersMax; exit code 3 above it, while a cost is unknown, and without --show-sames",
      readDollars,
    )
    .addOption(new Option("--format <format>", "format of the report").choices(estimateFormats).default("table"))
    .action(async (file: string | undefined, flags: EstimateFlags) => {
      const { estimate } = await import("./estimate/estimate.js");
      setExitCode(await estimate(await readInput(file, io), flags, io));
    });

  program
    .command("preview-comment")
    .description("print a preview as a Markdown comment for a pull request")
    .argument("[file]", "output of `pulumi preview --json`; standard input if omitted")
    .option("--stack <name>", "stack in the heading; defaults to the stack of the resources")
    .option("--json", "print the rows of the table as JSON")
    .action(async (file: string | undefined, flags: { stack?: string; json?: boolean }) => {
      const { parsePreview } = await import("./pulumi-preview/preview.js");
      const preview = parsePreview(await readInput(file, io), "pulumi preview --json");
      if (flags.json) {
        const { changesOf } = await import("./pulumi-preview/changes.js");
        return io.out(JSON.stringify(changesOf(preview), null, 2));
      }
      const { commentText } = await import("./pulumi-preview/markdown.js");
      io.out(commentText(preview, flags.stack ?? preview.stack ?? "the stack"));
    });

  program
    .command("move")
    .description("rewrite the state of a stack with dynamic resources for the plugin, or move from another provider")
    .argument("[file]", "output of `pulumi stack export` or `terraform show -json`; standard input if omitted")
    .addOption(
      new Option("--from <provider>", "provider of the state; writes a project with its objects").choices(providers),
    )
    .option("--out <dir>", "folder of the new project, new or empty; requires --from")
    .addOption(languageOption())
    .option("--json", "print the report as JSON; requires --from")
    .addHelpText(
      "after",
      `
Without --from, prints the rewritten state and makes no API calls:
  pulumi stack export | serverless-compute move > after.json

With --from, writes a program and import.json to --out; changes neither the objects nor the old state:
  terraform show -json | serverless-compute move --from terraform --out moved
${settingsHelp}`,
    )
    .action(async (file: string | undefined, flags: Partial<MoveFlags>, move: Command) => {
      const { from, out, language = "typescript", json } = flags;
      if (from !== undefined && out === undefined) move.error("error: --from requires --out");
      if (from === undefined && Object.keys(flags).length > 0)
        move.error("error: --out, --language and --json require --from");
      if (from !== undefined && out !== undefined) {
        const { moveRecorded } = await import("./move/move-recorded.js");
        return setExitCode(await moveRecorded({ from, out, language, json }, await readInput(file, io), io));
      }
      const { moveState } = await import("./move/move-state.js");
      const { text: state, moved } = moveState(await readInput(file, io));
      io.out(state.trimEnd());
      io.err(`Resources moved to the plugin: ${moved}.`);
    });

  addJobCommands(program, io);

  return program;
}

/** Runs the command line of this process. Output that cannot be written fails a command. */
export async function run(): Promise<void> {
  const closed = watchOutput((message) => terminal.err(`${name}: ${message}`));
  const code = await main(process.argv.slice(2), { ...terminal, closed });
  process.exitCode ??= code;
}
