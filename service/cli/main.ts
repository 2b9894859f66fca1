import { Command, CommanderError, Help } from "commander";
import { rejectEmptyValues, watchOutput } from "serverless-compute-api/job-commands";
import { addFolderCommands } from "./folder-commands";
import { addJobCommands } from "./job-commands";
import type { ManifestFlags } from "./manifest";
import { dataFlag } from "./option-values";
import { exitCodes, type Output, printError } from "./output";
import type { StartFlags } from "./start";
import { flagOf, startOptions } from "./start-options";
import type { StatusFlags } from "./status";
import { versionText } from "./version";

const terminal: Output = { out: (text) => console.log(text), err: (text) => console.error(text) };

/**
 * Runs one command line (`argv` includes the paths of Node and the script). Resolves with the exit code, for `start` once the
 * service listens. `outputClosed` aborts when the output is closed, which ends `logs --follow` and waits of `run`.
 */
export async function main(argv: string[], output: Output = terminal, outputClosed?: AbortSignal): Promise<number> {
  try {
    await commandLine(output, outputClosed).parseAsync(argv);
    return 0;
  } catch (error) {
    // Commander has already reported its own errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    printError(output, error);
    return exitCodes.failed;
  }
}

/** Defines the commands. Each is loaded when it runs, because most require only a small part of the service. */
export function commandLine(output: Output = terminal, outputClosed?: AbortSignal): Command {
  const program = new Command("serverless-compute-local")
    .description("A serverless GPU compute service on this machine, with real workers and no account")
    .version(versionText(), "--version", "print the version and the revision of the REST v2 contract")
    .configureOutput({
      writeOut: (text) => output.out(text.trimEnd()),
      writeErr: (text) => output.err(text.trimEnd()),
      outputError: (text) => printError(output, text.replace(/^error: /, "").trimEnd()),
    })
    // The defaults of flags and repeatable options are omitted.
    .configureHelp({
      optionDescription: (option) =>
        new Help().optionDescription(option).replace(/ \(default: (false|\[\]|\{\})\)$/, ""),
    })
    .exitOverride()
    .hook("preAction", (_program, command) => rejectEmptyValues(command));
  const startCommand = program
    .command("start")
    .description("start the service; Ctrl-C stops it")
    .option(...dataFlag())
    .option("--api-key-file <file>", "file with the API key, which replaces the data folder's key")
    .option("--json", "print the addresses, the console's link, the key file and the pid as one line of JSON", false)
    .action(async (flags: StartFlags) => (await import("./start.js")).start(flags, output));
  for (const option of startOptions) {
    const flag = flagOf(option);
    startCommand.addOption(flag.attributeName() === "ephemeral" ? flag.conflicts("data") : flag);
  }

  program
    .command("init")
    .description("write a commented seed file next to a handler, and the handler if it does not exist")
    .argument("[handler]", "handler file", "handler.mjs")
    .action(async (handler: string) => (await import("./init.js")).init(handler, output));

  program
    .command("apply")
    .description("create and update the objects of the running service's seed file, after a change of the file")
    .option(...dataFlag())
    .action(async ({ data }: { data: string }) => (await import("./apply.js")).applySeedFile(data, output));

  program
    .command("status")
    .description("print endpoints, workers and queues of the running service")
    .option(...dataFlag())
    .option("--json", "print JSON", false)
    .action(async (flags: StatusFlags) => (await import("./status.js")).printStatus(flags, output));

  program
    .command("open")
    .description("print a new single-use link to the running service's console, valid for an hour")
    .option(...dataFlag())
    .action(async ({ data }: { data: string }) => (await import("./connection.js")).printConsoleLink(data, output));

  program
    .command("manifest")
    .description("print what kubectl apply -f - needs to run the service in a Kubernetes cluster")
    .requiredOption("--image <name>", "image of the service, as written by scripts/release/service-image.mjs")
    .option(
      "--namespace <name>",
      "existing namespace of the service and its workers (default: a new one, serverless-compute)",
    )
    .option("--api-key-file <file>", "file with the API key (default: a new key)")
    .option("--storage-class <name>", "storage class of the service's data (default: the cluster's)")
    .option("--seed <file>", "seed file, which becomes a ConfigMap")
    .action(async (flags: ManifestFlags) => (await import("./manifest.js")).printManifest(flags, output));

  addJobCommands(program, output, outputClosed);
  addFolderCommands(program, output, outputClosed);

  return program;
}

/** Runs the command line of this process. Output that cannot be written fails a command, and does not end the service. */
export async function run(): Promise<void> {
  const outputClosed = watchOutput((message) => printError(terminal, new Error(message)));
  const code = await main(process.argv, terminal, outputClosed);
  process.exitCode ??= code;
}

if (require.main === module) void run();
