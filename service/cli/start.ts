import { type RetirableApi, StartError } from "../errors";
import { createService, type Service } from "../index";
import { apiKeyOfEnvironment, checkOptions, isStartedByNpx } from "../settings";
import { readApiKeyFile } from "../store/api-key";
import { CommandLineError, splitCommandLine } from "../workers/command-line";
import { resolveFiles } from "../workers/handler-files";
import { otherImagesText, pullerOf } from "../workers/runtimes";
import { exitCodes, type Output, printError } from "./output";
import { optionsOfFlags } from "./start-options";
import { contractRevision } from "./version";

/** Flags of `start`: its own ones, and those of `startOptions`. */
export interface StartFlags extends Record<string, unknown> {
  data: string;
  apiKeyFile?: string;
  json: boolean;
}

/** Time for running jobs to finish when the service stops, ms. */
const stopDeadline = 5000;

/** Throws a StartError if a file of an image's command does not exist, or if the command cannot be split into words. */
function checkCommand(image: string, command: string): void {
  try {
    resolveFiles(splitCommandLine(command), process.cwd());
  } catch (error) {
    if (error instanceof CommandLineError) throw new StartError(`--image ${image}: ${error.message}`);
    throw error;
  }
}

/** Starts the service, prints its addresses, and stops it on a signal; resolves when it listens. */
export async function start({ data, apiKeyFile, json, ...flags }: StartFlags, output: Output): Promise<void> {
  const options = optionsOfFlags(flags);
  checkOptions(options);
  const { images = {}, ephemeral, retire = [] } = options;
  for (const [name, command] of Object.entries(images)) checkCommand(name, command);
  const apiKey = apiKeyFile === undefined ? apiKeyOfEnvironment() : readApiKeyFile(apiKeyFile);
  const onNotice = (text: string): void => printError(output, text);
  const dataFolder = ephemeral ? undefined : data;
  const parent = process.ppid;
  // The exit removes a temporary data folder.
  const signals = listenToSignals(() => process.exit(exitCodes.interrupted));
  let service: Service;
  try {
    service = await createService({ ...options, dataFolder, apiKey, logLevel: "info", onNotice });
  } catch (error) {
    signals.close();
    throw error;
  }
  // Before anything is printed, because the reader of the first line may stop the service immediately.
  // With --json, only the program that started this one reads stdout.
  signals.onSignal = stopOnSignals(service, parent, json ? output.err : output.out, output);
  if (json) {
    const { url, baseUrl, graphqlUrl, serverlessUrl, consoleUrl, apiKeyFile, endpointIds } = service;
    const addresses = { url, baseUrl, graphqlUrl, serverlessUrl, consoleUrl, apiKeyFile };
    output.out(JSON.stringify({ ...addresses, pid: process.pid, endpointIds }));
  } else {
    output.out(startMessage(service, retire, listing(service)));
  }
}

/** Lists the place of the workers, the ids of the seed file's endpoints, the images with a command, and the images that are pulled. */
function listing({ endpointIds, runtime, place, ...service }: Service): string {
  const endpoints = Object.entries(endpointIds);
  const workers = Object.entries(place);
  const images = [
    ...Object.entries(service.images),
    ...service.imagesToPull.map((name) => [name, `no --image: ${pullerOf(runtime)} pulls it`] as const),
    ["others", otherImagesText(runtime)] as const,
  ];
  const sections = { Workers: workers, Endpoints: endpoints, Images: images };
  return Object.entries(sections)
    .filter(([, rows]) => rows.length > 0)
    .map(([heading, rows]) => section(heading, rows))
    .join("");
}

/** A heading with lines of two columns. */
function section(heading: string, rows: (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}   ${value}`);
  return `  ${heading.padEnd(10)}${lines.join("\n            ")}\n`;
}

function startMessage(service: Service, retired: readonly RetirableApi[], images: string): string {
  const retirementNote = (api: RetirableApi): string =>
    retired.includes(api) ? "   retired: all requests return 410" : "";
  return `The service is running. Ctrl-C stops it.

  REST v2   ${service.serverlessUrl}/v2   contract: ${contractRevision}
  REST v1   ${service.baseUrl}${retirementNote("v1")}
  GraphQL   ${service.graphqlUrl}${retirementNote("graphql")}
  Jobs      ${service.serverlessUrl}/v2/<endpoint id>
  API key   in ${service.apiKeyFile} ("serverless-compute-local key" prints it)
${images}${service.consoleUrl === undefined ? "" : `\nOpen ${service.consoleUrl}\n(the link works once; "serverless-compute-local open" prints a new one)\n`}`;
}

/** Interval of checks for the shell of `npx`, ms. */
const shellPollInterval = 500;

/** Calls `onSignal`, which may be replaced. A second listener would miss a signal that arrives while the first one is removed. */
function listenToSignals(onSignal: () => void) {
  const listener = (): void => signals.onSignal();
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const signals = {
    onSignal,
    close: (): void => {
      for (const name of names) process.off(name, listener);
    },
  };
  for (const name of names) process.on(name, listener);
  return signals;
}

/**
 * Creates the listener that stops the service gracefully at the first signal and immediately at the second. `parent` is the process that
 * started this one.
 */
function stopOnSignals(service: Service, parent: number, print: (text: string) => void, output: Output): () => void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    print(`Stopping: running jobs have ${stopDeadline / 1000} s to finish. Press Ctrl-C again to stop immediately.`);
    service.stop(stopDeadline).then(
      () => process.exit(0),
      (error: unknown) => {
        printError(output, error);
        process.exit(exitCodes.failed);
      },
    );
  };
  // A Ctrl-C reaches both the shell and the service. The end of the shell does not count as a second signal.
  if (isStartedByNpx()) watchShell(parent, stop);
  return () => (stopping ? process.exit(exitCodes.interrupted) : stop());
}

/** Detects the end of the shell of `npx`: `npx` sends signals only to its shell, which does not forward them. */
function watchShell(shell: number, onEnd: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    onEnd();
  }, shellPollInterval).unref();
}
