import { existsSync, mkdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "serverless-compute-api/clock";
import type { JobTimings } from "../jobs/timings";
import type { EndpointLookup } from "../resources/endpoint-lookup";
import { CommandLineError, splitCommandLine } from "./command-line";
import type { Containers } from "./containers/containers";
import { commandOf, handlerIn, typed } from "./handler-files";
import type { LogFile } from "./logs";
import { startProcess, type WorkerProcess } from "./process";
import type { Reaper } from "./reaper";
import { createRedaction, type Redact } from "./redaction";
import { newLocalId } from "./registry";

/** A started worker, the reason why none can be started, or the time at which its runtime is known. */
type StartOutcome =
  | { id: string; process: WorkerProcess; image: string; redact: Redact }
  | { error: string }
  | { until: Promise<void> };

export type WorkerStarter = ReturnType<typeof createWorkerStarter>;

interface StarterDeps {
  endpoints: EndpointLookup;
  /** Image name → command line or handler file. */
  images: Record<string, string>;
  /** Runtime of an image without a command: always a container, a container if an engine is available, or none. */
  runtime: "auto" | "docker" | "none";
  containers: Containers;
  /** Folder under which each endpoint's workers have a folder of their own. */
  homes: string;
  serverlessUrl(): string;
  token(endpointId: string): string;
  log(endpointId: string): LogFile;
  reaper: Reaper;
  clock: Clock;
  timings: JobTimings;
}

/**
 * Starts the workers of endpoints: each with the template's image and environment, the endpoint's token and a log. An image
 * with a command on this machine runs as a process with a home folder, any other one in a container.
 */
export function createWorkerStarter(deps: StarterDeps) {
  const { endpoints, images, runtime, containers, homes, reaper, clock, timings } = deps;

  function start(endpointId: string): StartOutcome {
    const found = endpoints.workerEnvironment(endpointId);
    const { image } = found;
    // A command for it on this machine always wins.
    const usesCommand = runtime === "none" || commandOf(images, image) !== undefined;
    const until = usesCommand ? undefined : containers.firstLook();
    if (until) return { until };
    const noContainer = usesCommand ? undefined : containers.problem();
    const inContainer = !usesCommand && noContainer === undefined;
    const command = inContainer ? undefined : resolveCommand(images, image, found.dockerArgs, noContainer);
    if (command && "error" in command) return command;
    const id = newLocalId();
    const token = deps.token(endpointId);
    const redact = createRedaction([...found.secretValues, token]);
    const log = deps.log(endpointId);
    const onLine = (line: string): void => log.write(`${new Date(clock.now()).toISOString()} ${id} ${redact(line)}`);
    const connection = (serverlessUrl: string): Record<string, string> => ({
      ...readableOutput,
      ...found.env,
      ...connectionOf({ workerId: id, endpointId, token, serverlessUrl, pingInterval: timings.pingInterval }),
    });
    onLine(`worker starts for the image ${image}`);
    const process = command ? startCommand(command) : startInContainer();
    void process.ended.then(({ how }) => onLine(`worker ${how}`));
    return { id, process, image, redact };

    function startCommand(known: WorkerCommand): WorkerProcess {
      const home = join(homes, endpointId);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const env = { ...machineEnvironment(home), ...connection(deps.serverlessUrl()) };
      return startProcess({ ...known, env, mark: workerMark(id), reaper, clock, onLine });
    }

    function startInContainer(): WorkerProcess {
      const cmd = splitCommandLine(found.dockerArgs);
      const needs = found.container;
      return containers.start({ endpointId, workerId: id, image, cmd, needs, env: connection, onLine });
    }
  }

  /** The last error of each endpoint, so that its log contains it once. */
  const lastErrors = new Map<string, string>();
  function note(endpointId: string, outcome: StartOutcome): StartOutcome {
    const error = "error" in outcome ? outcome.error : undefined;
    if (error !== undefined && error !== lastErrors.get(endpointId))
      deps.log(endpointId).write(`${new Date(clock.now()).toISOString()} ${error}`);
    if (error === undefined) lastErrors.delete(endpointId);
    else lastErrors.set(endpointId, error);
    return outcome;
  }

  return {
    start(endpointId: string): StartOutcome {
      try {
        return note(endpointId, start(endpointId));
      } catch (error) {
        // An unknown secret, a full disk, a variable that no process can have.
        const text = error instanceof Error ? error.message : String(error);
        return note(endpointId, { error: `no worker can be started: ${text}` });
      }
    },
  };
}

/** Facts that connect a worker to the service. */
interface WorkerIdentity {
  workerId: string;
  endpointId: string;
  /** Authenticates the worker for its endpoint's jobs; never the user's API key. */
  token: string;
  /** Root of the job API as the worker sees it, without a slash at its end. */
  serverlessUrl: string;
  /** Interval of the worker's pings, ms. */
  pingInterval: number;
}

/** The entry of a worker's environment that only the worker and the processes it starts have. */
const workerMark = (workerId: string): string => `RUNPOD_POD_ID=${workerId}`;

/**
 * Environment of a process besides the template's variables and those that connect it. Only PATH, to find commands, comes from
 * this machine. HOME is a folder of the endpoint, so that tools write their caches there and find no user's credentials; TMPDIR
 * and LANG make files and encodings work. The template's variables may replace these.
 */
const machineEnvironment = (home: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
  HOME: home,
  TMPDIR: tmpdir(),
  LANG: "C.UTF-8",
});

/**
 * Readable output of Python workers, unless the template sets these variables: prints appear at once, and the public SDK does not
 * log each request and heartbeat, as its default level DEBUG does.
 */
const readableOutput = { PYTHONUNBUFFERED: "1", RUNPOD_DEBUG_LEVEL: "INFO" };

/** The variables that connect a worker to the service, which nothing may replace. */
function connectionOf(identity: WorkerIdentity): Record<string, string> {
  const { workerId, endpointId, token, serverlessUrl, pingInterval } = identity;
  const root = `${serverlessUrl}/v2/${endpointId}`;
  return {
    RUNPOD_POD_ID: workerId,
    RUNPOD_ENDPOINT_ID: endpointId,
    RUNPOD_AI_API_KEY: token,
    // The worker fills in $ID and $RUNPOD_POD_ID, and appends more parameters after the "?".
    RUNPOD_WEBHOOK_GET_JOB: `${root}/job-take/$ID?gpu=local`,
    RUNPOD_WEBHOOK_POST_OUTPUT: `${root}/job-done/$RUNPOD_POD_ID/$ID?gpu=local`,
    RUNPOD_WEBHOOK_POST_STREAM: `${root}/job-stream/$RUNPOD_POD_ID/$ID?gpu=local`,
    RUNPOD_WEBHOOK_PING: `${root}/ping/$RUNPOD_POD_ID`,
    RUNPOD_PING_INTERVAL: String(pingInterval),
    // Without these the Python SDK searches for GPUs and calls a public address before it takes jobs.
    RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: "true",
    RUNPOD_SKIP_GPU_CHECK: "true",
  };
}

interface WorkerCommand {
  file: string;
  args: string[];
  /** True if the program talks to the service over its file descriptor 3, as the Node worker does. */
  channel: boolean;
}

/**
 * Finds the command of an image. A command line runs as it is; a handler file alone is run by the Node worker. `dockerArgs`
 * are appended as arguments. `noContainer` is why the image does not run in a container either.
 */
export function resolveCommand(
  images: Record<string, string>,
  image: string,
  dockerArgs: string,
  noContainer?: string,
): WorkerCommand | { error: string } {
  const line = commandOf(images, image);
  if (line === undefined) {
    const known = Object.keys(images);
    const have = known.length > 0 ? `images that have one: ${known.join(", ")}` : "no image has one";
    const container = noContainer === undefined ? "" : `, or let a Docker Engine run the image itself (${noContainer})`;
    return {
      error: `the image "${image}" has no command on this machine (${have}); start the service with --image ${image}=COMMAND, where COMMAND is a command line or a .mjs, .js or .ts handler file${container}`,
    };
  }
  try {
    const words = splitCommandLine(line);
    const args = splitCommandLine(dockerArgs);
    const [file, ...rest] = words;
    if (file === undefined)
      return { error: `the command of the image "${image}" is empty; set it with --image ${image}=COMMAND` };
    const handler = handlerIn(words);
    if (handler !== undefined) return handlerCommand(image, handler, args);
    return { file, args: [...rest, ...args], channel: false };
  } catch (error) {
    if (error instanceof CommandLineError)
      return { error: `the command of the image "${image}" cannot be read: ${error.message}` };
    throw error;
  }
}

function handlerCommand(image: string, handler: string, args: string[]): WorkerCommand | { error: string } {
  if (!existsSync(handler)) {
    return {
      error: `the handler file ${handler} of the image "${image}" does not exist; name another one with --image ${image}=FILE`,
    };
  }
  const host = hostProgram();
  const loader = [host, handler].some((one) => typed.includes(extname(one))) ? typescriptLoader(handler) : [];
  if (loader === undefined) {
    return {
      error: `the handler file ${handler} of the image "${image}" is TypeScript, which Node ${process.versions.node} cannot run by itself; run npm install tsx in its folder, or use Node 22.18 or later`,
    };
  }
  // Without this flag, the version of Node is the last line of every crash.
  const node = ["--no-extra-info-on-fatal-exception", ...loader];
  return { file: process.execPath, args: [...node, host, handler, ...args], channel: true };
}

/** The Node worker. Next to the sources, the compiled one is preferred while it is up to date: it starts three times as fast. */
function hostProgram(): string {
  const beside = join(__dirname, "node-host.js");
  if (existsSync(beside)) return beside;
  const source = join(__dirname, "node-host.ts");
  const compiled = join(__dirname, "..", "dist", "workers", "node-host.js");
  return existsSync(compiled) && statSync(compiled).mtimeMs >= statSync(source).mtimeMs ? compiled : source;
}

/**
 * The flags with which Node runs TypeScript; undefined if it cannot. tsx is preferred where the handler's project has it,
 * because Node's own type stripping lacks things such as enums and imports without an extension.
 */
function typescriptLoader(handler: string): string[] | undefined {
  try {
    const tsx = createRequire(__filename).resolve("tsx", { paths: [dirname(handler), __dirname] });
    return ["--import", pathToFileURL(tsx).href];
  } catch {
    return "typescript" in process.features && process.features.typescript ? [] : undefined;
  }
}
