import { Command, CommanderError, Option } from "commander";
import type { JobStatus } from "serverless-compute-api/shapes";
import { defaultHost } from "../listening";
import { defaultDataFolder, defaultPort, findLocalEngine } from "../settings";
import type { JobsFlags, RunFlags } from "./jobs";
import type { LogsFlags } from "./logs";
import { addImage, oneOf, readInput, readLines, readOldApis, readPort, readSeconds } from "./option-values";
import { complain, exitCodes, type Output } from "./output";
import type { StartFlags } from "./start";
import type { StatusFlags } from "./status";
import { versionText } from "./version";

/** Lines that `logs` prints by default. */
const defaultLines = 100;

const jobStates = [
  "IN_QUEUE",
  "IN_PROGRESS",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
  "TIMED_OUT",
] as const satisfies JobStatus[];

/** Jobs that `jobs` prints by default. */
const defaultJobs = 20;

/** Seconds that `key --wait` waits by default. */
const defaultWait = 30;

const terminal: Output = { out: (text) => console.log(text), err: (text) => console.error(text) };

/**
 * Runs one command line (`argv` includes the paths of Node and the script). Resolves with the exit code, for `start` once the
 * service listens. `unread` aborts when the output is closed, which ends `logs --follow`.
 */
export async function main(argv: string[], output: Output = terminal, unread?: AbortSignal): Promise<number> {
  try {
    await commandLine(output, unread).parseAsync(argv);
    return 0;
  } catch (error) {
    // Commander has already reported its own errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    complain(output, error);
    return exitCodes.failed;
  }
}

/** Defines the commands. Each is loaded when it runs, because most require only a small part of the service. */
function commandLine(output: Output, unread: AbortSignal | undefined): Command {
  const program = new Command("serverless-compute-local")
    .description("A serverless GPU compute service on this machine, with real workers and no account")
    .version(versionText(), "--version", "print the version and the revision of the REST v2 contract")
    .configureOutput({
      writeOut: (text) => output.out(text.trimEnd()),
      writeErr: (text) => output.err(text.trimEnd()),
      outputError: (text) => complain(output, text.replace(/^error: /, "").trimEnd()),
    })
    .exitOverride();
  const dataFlag = [
    "--data <dir>",
    "data folder, which contains all state and the key file",
    defaultDataFolder(),
  ] as const;

  program
    .command("start")
    .description("start the service; Ctrl-C stops it")
    .option("--port <n>", "port; 0 selects a free one", readPort, defaultPort)
    .option("--host <address>", "address to listen on; any address but loopback requires --allow-host", defaultHost)
    .option(
      "--allow-host <host>",
      "host name that clients may use, in addition to loopback; repeatable",
      (host: string, hosts: string[]) => [...hosts, host],
      [],
    )
    .option(...dataFlag)
    .option("--seed <file>", "YAML file with objects to create if they do not exist, and with images")
    .option("--api-key-file <file>", "file with the API key, which replaces the data folder's key")
    .option("--image <name=command>", "command line or handler file that runs an image; repeatable", addImage, {})
    .option(
      "--runtime <auto|docker|none>",
      "runtime of images without a command; auto uses a Docker Engine if one is reachable",
      oneOf("auto", "docker", "none"),
      "auto",
    )
    .option(
      "--gpus <auto|all|none>",
      "GPUs for workers in containers; auto uses them if the Docker Engine has any",
      oneOf("auto", "all", "none"),
      "auto",
    )
    .option(
      "--template-release <seconds>",
      "time that a template stays in use after its last endpoint (default: 120)",
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
      readOldApis,
      [],
    )
    .option("--delete-needs-scale-down", "reject the delete of an endpoint whose workersMax is above 0", false)
    .option("--no-console", "do not serve the web page at the service's root")
    .option("--watch", "restart workers after their jobs when a source file in the handler's folder changes", false)
    .option("--json", "print the addresses, the console's link, the key file and the pid as one line of JSON", false)
    .action(async (flags: StartFlags) => (await import("./start.js")).start(flags, output));

  program
    .command("init")
    .description("write a commented seed file beside a handler, and the handler if it does not exist")
    .argument("[handler]", "handler file", "handler.mjs")
    .action(async (handler: string) => (await import("./init.js")).init(handler, output));

  program
    .command("key")
    .description("print the API key")
    .option(...dataFlag)
    .option("--wait [seconds]", `wait for the service, at most this long (default: ${defaultWait})`, readSeconds)
    .action(async ({ data, wait }: { data: string; wait?: number | true }) => {
      const { printKey, waitForService } = await import("./data-folder.js");
      if (wait !== undefined) await waitForService(data, wait === true ? defaultWait * 1000 : wait);
      printKey(data, output);
    });

  program
    .command("open")
    .description("print a new single-use link to the running service's console, valid for an hour")
    .option(...dataFlag)
    .action(async ({ data }: { data: string }) => (await import("./open.js")).printConsoleLink(data, output));

  program
    .command("logs")
    .description("print the output of an endpoint's workers; works without a running service")
    .argument("<endpoint>", "id or name")
    .option(...dataFlag)
    .option("--lines <n>", "number of past lines to print", readLines, defaultLines)
    .option("--follow", "keep printing new lines until Ctrl-C", false)
    .action(async (endpoint: string, flags: LogsFlags) =>
      (await import("./logs.js")).printLogs(endpoint, flags, output, unread),
    );

  program
    .command("run")
    .description("submit a job to an endpoint of the running service and print the response as JSON")
    .argument("<endpoint>", "id or name")
    .argument("[input]", "input of the job, a JSON object", readInput, "{}")
    .option(...dataFlag)
    .option("--sync", "wait for the result; exit code 1 unless the job completes", false)
    .addOption(
      new Option("--stream", "print each chunk of the output as a line of JSON").default(false).conflicts("sync"),
    )
    .action(async (endpoint: string, input: string, flags: RunFlags) =>
      (await import("./jobs.js")).runJob(endpoint, input, flags, output),
    );

  program
    .command("jobs")
    .description("print the jobs of an endpoint, newest first")
    .argument("<endpoint>", "id or name")
    .option(...dataFlag)
    .option("--state <state>", "only jobs in this state, such as FAILED", oneOf(...jobStates))
    .option("--limit <n>", "number of jobs to print", readLines, defaultJobs)
    .action(async (endpoint: string, flags: JobsFlags) =>
      (await import("./jobs.js")).listJobs(endpoint, flags, output),
    );

  const ofJob = [
    ["job", "status", "print the record of a job as JSON"],
    ["cancel", "cancel", "cancel a job"],
    ["retry", "retry", "queue a failed job again"],
  ] as const;
  for (const [name, operation, description] of ofJob)
    program
      .command(name)
      .description(description)
      .argument("<id>", "id of the job")
      .option(...dataFlag)
      .action(async (id: string, { data }: { data: string }) =>
        (await import("./jobs.js")).callJob(operation, id, data, output),
      );

  program
    .command("token")
    .description("print the token for workers of an endpoint that run on other machines")
    .argument("<endpoint>", "id or name")
    .option(...dataFlag)
    .action(async (endpoint: string, { data }: { data: string }) =>
      (await import("./data-folder.js")).printToken(endpoint, data, output),
    );

  program
    .command("prune")
    .description("remove containers, network and pulled images that a killed service left in the Docker Engine")
    .option(...dataFlag)
    .action(async ({ data }: { data: string }) => (await import("./prune.js")).prune(data, findLocalEngine, output));

  program
    .command("status")
    .description("print endpoints, workers and queues of the running service")
    .option(...dataFlag)
    .option("--port <n>", "port of the service on 127.0.0.1", readPort, defaultPort)
    .action(async (flags: StatusFlags) => (await import("./status.js")).printStatus(flags, output));

  return program;
}

/** Runs the command line of this process. */
export async function run(): Promise<void> {
  const unread = new AbortController();
  // A closed pipe, for example of `head`, must not end the service.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    unread.abort();
  });
  process.exitCode = await main(process.argv, terminal, unread.signal);
}

if (require.main === module) void run();
