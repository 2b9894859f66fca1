import { Command, CommanderError, Help, Option } from "commander";
import { defaultHost } from "../listening";
import { defaultPort } from "../settings";
import { runtimeNames } from "../workers/runtimes";
import { addFolderCommands } from "./folder-commands";
import { addJobCommands } from "./job-commands";
import type { ManifestFlags } from "./manifest";
import { addImage, addStock, dataFlag, oneOf, readRetirableApis, readSeconds, wholeNumber } from "./option-values";
import { exitCodes, type Output, printError } from "./output";
import type { StartFlags } from "./start";
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
function commandLine(output: Output, outputClosed: AbortSignal | undefined): Command {
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
    .exitOverride();
  program
    .command("start")
    .description("start the service; Ctrl-C stops it")
    .option("--port <n>", "port; 0 selects a free one", wholeNumber(0, 65_535), defaultPort)
    .option(
      "--host <address>",
      "address to listen on; any address other than loopback requires --allow-host",
      defaultHost,
    )
    .option(
      "--allow-host <host>",
      "host name that clients may use, in addition to loopback; repeatable",
      (host: string, hosts: string[]) => [...hosts, host],
      [],
    )
    .option(...dataFlag())
    .addOption(
      new Option("--ephemeral", "use a temporary data folder, which is removed at the end")
        .default(false)
        .conflicts("data"),
    )
    .option("--seed <file>", "YAML file with objects to create if they do not exist, and with images")
    .option("--api-key-file <file>", "file with the API key, which replaces the data folder's key")
    .option("--image <name=command>", "command line or handler file that runs an image; repeatable", addImage, {})
    .option(
      "--runtime <auto|docker|kubernetes|none>",
      "runtime of images without a command; auto (the default) uses a Docker Engine if one is reachable",
      oneOf(...runtimeNames),
    )
    .option("--kube-context <name>", "context of the kubeconfig, with --runtime kubernetes")
    .option("--namespace <name>", "namespace of the workers' pods, with --runtime kubernetes")
    .option("--worker-url <url>", "address at which pods reach this service, with --runtime kubernetes")
    .option(
      "--gpus <auto|all|none>",
      "GPUs for workers in containers; auto uses them if the Docker Engine has any",
      oneOf("auto", "all", "none"),
      "auto",
    )
    .option(
      "--stock <id=level>",
      "stock of a GPU type or CPU flavour, or of ID@DATACENTER: NONE, LOW, MEDIUM or HIGH; repeatable",
      addStock,
      {},
    )
    .option("--worker-quota <n>", "largest sum of workersMax over all endpoints (default: no limit)", wholeNumber(0))
    .option(
      "--template-release <seconds>",
      "time that a template stays in use after its last endpoint (default: 120)",
      readSeconds,
    )
    .option(
      "--job-visibility-delay <seconds>",
      "time for which /status, /stream, /cancel and /retry do not find a new job (default: 0)",
      readSeconds,
    )
    .option(
      "--stream <shape>",
      "shape of /stream responses: array, envelope, or auto",
      oneOf("auto", "array", "envelope"),
      "auto",
    )
    .option(
      "--rate-limits <on|off>",
      "off disables the rate limits, for load tests of your own handlers",
      oneOf("on", "off"),
      "on",
    )
    .option(
      "--retire <apis>",
      "APIs that return 410, as after their retirement: v1, graphql or v1,graphql",
      readRetirableApis,
      [],
    )
    .option(
      "--page-size <n>",
      "elements in a page of a REST v2 list, for tests of pagination",
      wholeNumber(1, 1000),
      1000,
    )
    .option("--delete-needs-scale-down", "reject the delete of an endpoint whose workersMax is above 0", false)
    .option("--no-console", "do not serve the web page at the service's root")
    .option("--watch", "restart workers after their jobs when a source file in the handler's folder changes", false)
    .option("--json", "print the addresses, the console's link, the key file and the pid as one line of JSON", false)
    .action(async (flags: StartFlags) => (await import("./start.js")).start(flags, output));

  program
    .command("init")
    .description("write a commented seed file next to a handler, and the handler if it does not exist")
    .argument("[handler]", "handler file", "handler.mjs")
    .action(async (handler: string) => (await import("./init.js")).init(handler, output));

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
    .option("--namespace <name>", "namespace of the service and its workers", "serverless-compute")
    .option("--api-key-file <file>", "file with the API key (default: a new key)")
    .option("--storage-class <name>", "storage class of the service's data (default: the cluster's)")
    .option("--seed <file>", "seed file, which becomes a ConfigMap")
    .action(async (flags: ManifestFlags) => (await import("./manifest.js")).printManifest(flags, output));

  addJobCommands(program, output, outputClosed);
  addFolderCommands(program, output, outputClosed);

  return program;
}

/** Runs the command line of this process. */
export async function run(): Promise<void> {
  const outputClosed = new AbortController();
  // A closed pipe, for example of `head`, must not end the service.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    outputClosed.abort();
  });
  process.exitCode = await main(process.argv, terminal, outputClosed.signal);
}

if (require.main === module) void run();
