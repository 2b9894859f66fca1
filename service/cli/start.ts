import { existsSync } from "node:fs";
import { StartError } from "../errors";
import { createService, type Service } from "../index";
import { apiKeyOfEnvironment, isStartedByNpx, type OldApi, type ServiceOptions } from "../settings";
import { handlerFileOf } from "../workers/handler-files";
import { complain, exitCodes, type Output } from "./output";
import { contractRevision } from "./version";

/** Flags of `start`; several are options of `createService` with the same name. */
export interface StartFlags
  extends Pick<
    ServiceOptions,
    "console" | "gpus" | "host" | "port" | "rateLimits" | "retire" | "runtime" | "stream" | "templateRelease" | "watch"
  > {
  data: string;
  image: Record<string, string>;
  allowHost: string[];
  deleteNeedsScaleDown: boolean;
  json: boolean;
}

/** How long running jobs may take when the service is told to stop, ms. */
const stopDeadline = 5000;

/** Starts the service, which a signal stops, and prints its addresses; resolves when it listens. */
export async function start({ data, image, allowHost, json, ...flags }: StartFlags, output: Output): Promise<void> {
  for (const name of Object.keys(image)) {
    const file = handlerFileOf(image, name);
    if (file !== undefined && !existsSync(file))
      throw new StartError(`--image ${name}: the handler file ${file} does not exist; name one that does`);
  }
  const given = { dataFolder: data, images: image, allowHosts: allowHost, apiKey: apiKeyOfEnvironment() };
  const onNotice = (text: string): void => complain(output, text);
  const service = await createService({ ...flags, ...given, logLevel: "info", onNotice });
  // Before anything is printed: whoever reads the first line may stop the service at once.
  // With --json, only the program that started this one reads stdout.
  stopOnSignals(service, json ? output.err : output.out, output);
  if (json) {
    const { url, baseUrl, graphqlUrl, serverlessUrl, consoleUrl, apiKeyFile } = service;
    output.out(JSON.stringify({ url, baseUrl, graphqlUrl, serverlessUrl, consoleUrl, apiKeyFile, pid: process.pid }));
  } else {
    output.out(welcome(service, flags.retire ?? []));
  }
}

function welcome(service: Service, retired: readonly OldApi[]): string {
  const note = (api: OldApi): string => (retired.includes(api) ? "   retired: every request is 410" : "");
  return `The service is running. Ctrl-C stops it.

  REST v2   ${service.serverlessUrl}/v2   contract: ${contractRevision}
  REST v1   ${service.baseUrl}${note("v1")}
  GraphQL   ${service.graphqlUrl}${note("graphql")}
  Jobs      ${service.serverlessUrl}/v2/<endpoint id>
  API key   in ${service.apiKeyFile} ("serverless-compute-local key" prints it)
${service.consoleUrl === undefined ? "" : `\nOpen ${service.consoleUrl}\n(the link works once; "serverless-compute-local open" prints a new one)\n`}`;
}

/** How often to look for the shell of `npx`, ms. */
const lookForShell = 500;

/** The first signal stops the service in order, a second one at once. */
function stopOnSignals(service: Service, say: (text: string) => void, output: Output): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    say(`Stopping: running jobs have ${stopDeadline / 1000} s to finish. Press Ctrl-C again to stop at once.`);
    service.stop(stopDeadline).then(
      () => process.exit(0),
      (error: unknown) => {
        complain(output, error);
        process.exit(exitCodes.failed);
      },
    );
  };
  const onSignal = (): void => (stopping ? process.exit(exitCodes.interrupted) : stop());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  // A Ctrl-C reaches shell and service, and may end the shell first: that is no second one.
  if (isStartedByNpx()) onEndOfShell(stop);
}

/** `npx` starts a command by a shell, and hands signals on to that one only, which ends and tells nobody. */
function onEndOfShell(ended: () => void): void {
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    ended();
  }, lookForShell).unref();
}
