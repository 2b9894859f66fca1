import { Command, CommanderError, InvalidArgumentError } from "commander";
import { readApiKey } from "./api-key";
import { type LogsFlags, printLogs } from "./commands/logs";
import type { Output } from "./commands/output";
import { printStatus, type StatusFlags } from "./commands/status";
import { printToken } from "./commands/token";
import { StartError } from "./errors";
import { createService, type Service } from "./index";
import { defaultDataFolder, defaultPort, type ServiceOptions } from "./settings";

/** Flags of `start` as commander hands them over. */
interface StartFlags {
  port: number;
  data: string;
  image: Record<string, string>;
  templateRelease?: number;
  stream: "array" | "envelope";
  rateLimits: "on" | "off";
  deleteNeedsScaleDown: boolean;
  json: boolean;
}

/** Exit codes: a command line that cannot be right, a start that failed, and a second Ctrl-C. */
const exitCodes = { usage: 2, failed: 1, interrupted: 130 } as const;

/** Milliseconds that running jobs get when the service is told to stop. */
const stopDeadline = 5000;

/** Lines that `logs` prints when it is told no number. */
const defaultLines = 100;

const terminal: Output = { out: (text) => console.log(text), err: (text) => console.error(text) };
const complain = (output: Output, error: unknown): void =>
  output.err(`serverless-compute-local: ${error instanceof Error ? error.message : String(error)}`);

/**
 * Runs one command line (`argv` as Node gives it); resolves with the exit code, for `start` once the service listens.
 * `unread` aborts when nobody reads the output any more, which ends a command that would print for ever.
 */
export async function main(argv: string[], output: Output = terminal, unread?: AbortSignal): Promise<number> {
  try {
    await commandLine(output, unread).parseAsync(argv);
    return 0;
  } catch (error) {
    // Commander has told its own errors already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    complain(output, error);
    return exitCodes.failed;
  }
}

function commandLine(output: Output, unread: AbortSignal | undefined): Command {
  const program = new Command("serverless-compute-local")
    .description("A serverless GPU compute service on this machine, with real workers and no account")
    .configureOutput({
      writeOut: (text) => output.out(text.trimEnd()),
      writeErr: (text) => output.err(text.trimEnd()),
      outputError: (text) => complain(output, text.replace(/^error: /, "").trimEnd()),
    })
    .exitOverride();
  const dataFlag = ["--data <dir>", "folder that holds all state and the key file", defaultDataFolder()] as const;

  program
    .command("start")
    .description("start the service; Ctrl-C stops it")
    .option("--port <n>", "port on 127.0.0.1, 0 takes a free one", readPort, defaultPort)
    .option(...dataFlag)
    .option(
      "--image <name=command>",
      "what runs for an image: a command line or a handler file; repeatable",
      addImage,
      {},
    )
    .option(
      "--template-release <seconds>",
      "how long a template stays in use after its last endpoint (default: 120)",
      readSeconds,
    )
    .option("--stream <shape>", "shape of /stream answers: array or envelope", readStream, "array")
    .option("--rate-limits <on|off>", "off lifts the rate limits, for load tests of your own handlers", readOnOff, "on")
    .option("--delete-needs-scale-down", "refuse to delete an endpoint that still allows workers", false)
    .option("--json", "first line on stdout: the addresses, the key file and the pid as JSON", false)
    .action((flags: StartFlags) => start(flags, output));

  program
    .command("key")
    .description("print the API key")
    .option(...dataFlag)
    .action(({ data }: { data: string }) => {
      const key = readApiKey(data);
      if (key === undefined)
        throw new StartError(`${data} has no key yet: it is made at the first start of the service`);
      output.out(key);
    });

  program
    .command("logs")
    .description("print what an endpoint's workers wrote; the service need not run")
    .argument("<endpoint>", "id or name")
    .option(...dataFlag)
    .option("--lines <n>", "how many lines of the past", readLines, defaultLines)
    .option("--follow", "go on with what comes, until Ctrl-C", false)
    .action((endpoint: string, flags: LogsFlags) => printLogs(endpoint, flags, output, unread));

  program
    .command("token")
    .description("print the token with which workers elsewhere sign in at an endpoint")
    .argument("<endpoint>", "id or name")
    .option(...dataFlag)
    .action((endpoint: string, { data }: { data: string }) => printToken(endpoint, data, output));

  program
    .command("status")
    .description("print endpoints, workers and queues of the running service")
    .option(...dataFlag)
    .option("--port <n>", "port of the service on 127.0.0.1", readPort, defaultPort)
    .action((flags: StatusFlags) => printStatus(flags, output));

  return program;
}

async function start(flags: StartFlags, output: Output): Promise<void> {
  const options: ServiceOptions = {
    port: flags.port,
    dataFolder: flags.data,
    images: flags.image,
    stream: flags.stream,
    rateLimits: flags.rateLimits,
    deleteNeedsScaleDown: flags.deleteNeedsScaleDown,
    logLevel: "info",
    ...(flags.templateRelease === undefined ? {} : { templateRelease: flags.templateRelease }),
  };
  const service = await createService(options);
  // Before anything is printed: who reads the first line may stop the service at once.
  // With --json, stdout belongs to the program that started this one.
  stopOnSignals(service, flags.json ? output.err : output.out, output);
  if (flags.json) {
    const { baseUrl, graphqlUrl, serverlessUrl, apiKeyFile } = service;
    output.out(JSON.stringify({ baseUrl, graphqlUrl, serverlessUrl, apiKeyFile, pid: process.pid }));
  } else {
    output.out(welcome(service));
  }
}

function welcome(service: Service): string {
  return `The service is running. Ctrl-C stops it.

  REST      ${service.baseUrl}
  GraphQL   ${service.graphqlUrl}
  Jobs      ${service.serverlessUrl}/v2/<endpoint id>
  API key   in ${service.apiKeyFile} ("serverless-compute-local key" prints it)
`;
}

/** The first signal stops the service in order, the second one at once. */
function stopOnSignals(service: Service, say: (text: string) => void, output: Output): void {
  let stopping = false;
  const onSignal = (): void => {
    if (stopping) process.exit(exitCodes.interrupted);
    stopping = true;
    say(`Stopping: running jobs have ${stopDeadline / 1000} s to finish. Once more ends it at once.`);
    service.stop(stopDeadline).then(
      () => process.exit(0),
      (error: unknown) => {
        complain(output, error);
        process.exit(exitCodes.failed);
      },
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
}

function readLines(text: string): number {
  const lines = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(lines)) return lines;
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds >= 0 && Number.isFinite(seconds)) return seconds * 1000;
  throw new InvalidArgumentError("It must be a number of seconds, 0 or more.");
}

function readStream(text: string): string {
  if (text === "array" || text === "envelope") return text;
  throw new InvalidArgumentError('It must be "array" or "envelope".');
}

function readOnOff(text: string): string {
  if (text === "on" || text === "off") return text;
  throw new InvalidArgumentError('It must be "on" or "off".');
}

function addImage(text: string, images: Record<string, string>): Record<string, string> {
  const [, name, command] = /^([^=\s]+)=(.*\S.*)$/s.exec(text) ?? [];
  if (name === undefined || command === undefined) {
    throw new InvalidArgumentError(
      'It must be NAME=COMMAND, such as acme/echo:1=./echo.mjs or acme/chat:1="python3 -u handler.py".',
    );
  }
  return { ...images, [name]: command };
}

/** Runs the command line of this process. */
export async function run(): Promise<void> {
  const unread = new AbortController();
  // Whoever reads our lines may have enough of them, as `head` does; that is no reason to end a service.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    unread.abort();
  });
  process.exitCode = await main(process.argv, terminal, unread.signal);
}

if (require.main === module) void run();
