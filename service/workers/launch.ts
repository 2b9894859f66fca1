import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { messageOf } from "../errors";
import type { Faults } from "../faults/faults";
import type { JobTimings } from "../jobs/timings";
import type { EndpointLookup } from "../resources/endpoint-lookup";
import { splitCommandLine } from "./command-line";
import type { Containers } from "./containers/containers";
import { commandOf } from "./handler-files";
import { type CommandProblem, resolveCommand, type WorkerCommand } from "./image-command";
import type { WorkerLogs } from "./logs";
import { startProcess, type WorkerProcess } from "./process";
import type { Reaper } from "./reaper";
import { createRedaction, type Redact } from "./redaction";
import { newLocalId } from "./registry";
import { unsentResult } from "./sdk-log";
import { createPorts, loopback, parseServer, portVariables } from "./worker-server";

/** A started worker. */
export interface StartedWorker {
  id: string;
  process: WorkerProcess;
  image: string;
  redact: Redact;
}

/**
 * The outcome of a start: the worker, the reason why none can be started, a promise that resolves when the runtime and ports are known,
 * or a lack of stock.
 */
type StartOutcome = StartedWorker | CommandProblem | { ready: Promise<void> } | { noStock: string };

export type WorkerStarter = ReturnType<typeof createWorkerStarter>;

/**
 * Starts the workers of endpoints, with the template's image and environment, the endpoint's token and a log. An image with a command on
 * this machine runs as a process with a home folder; other images run in containers.
 */
export function createWorkerStarter({
  endpoints,
  images,
  runtime,
  containers,
  homeFolders,
  serverlessUrl,
  token: tokenOf,
  logs,
  log,
  reaper,
  faults,
  onUnsentResult,
  clock,
  timings,
}: {
  endpoints: EndpointLookup;
  /** Image name → command line or handler file. */
  images: Record<string, string>;
  /** Runtime of an image without a command: always a container, a container if an engine is available, or none. */
  runtime: "auto" | "docker" | "none";
  containers: Containers;
  /** Parent folder of the endpoints' home folders. */
  homeFolders: string;
  serverlessUrl(): string;
  token(endpointId: string): string;
  logs: Pick<WorkerLogs, "write">;
  log: Pick<Logger, "warn">;
  reaper: Reaper;
  faults: Pick<Faults, "lackOfStock" | "workerProgram">;
  /** Called if a worker cannot return the result of a job, with the reason. */
  onUnsentResult(job: { endpointId: string; workerId: string; jobId: string }, reason: string): void;
  clock: Clock;
  timings: JobTimings;
}) {
  const ports = createPorts();

  function start(endpointId: string): StartOutcome {
    const noStock = faults.lackOfStock(endpointId) ?? endpoints.lackOfStock(endpointId);
    if (noStock !== undefined) return { noStock };
    const environment = endpoints.workerEnvironment(endpointId);
    const { image } = environment;
    const requestedPorts = endpoints.get(endpointId)?.type === "LB" ? parseServer(environment.env) : undefined;
    // A command on this machine takes precedence over a container.
    const injected = faults.workerProgram(endpointId);
    const usesCommand = injected !== undefined || runtime === "none" || commandOf(images, image) !== undefined;
    const ready = usesCommand ? undefined : containers.firstConnection();
    if (ready) return { ready };
    const containerProblem = usesCommand ? undefined : containers.problem();
    const usesContainer = !usesCommand && containerProblem === undefined;
    const options = { containerProblem, isServer: requestedPorts !== undefined };
    const command =
      injected ?? (usesContainer ? undefined : resolveCommand(images, image, environment.dockerArgs, options));
    if (command && "error" in command) return command;
    const serverPorts = requestedPorts && command ? ports.claim(requestedPorts) : requestedPorts;
    if (requestedPorts && !serverPorts) return { ready: ports.reserve() };
    const id = newLocalId();
    const token = tokenOf(endpointId);
    const redact = createRedaction([...environment.secretValues, token]);
    const onLine = (line: string): void => {
      logs.write(endpointId, `${id} ${redact(line)}`);
      const unsent = unsentResult(line);
      if (unsent) onUnsentResult({ endpointId, workerId: id, jobId: unsent.jobId }, redact(unsent.reason));
    };
    const connectionEnvironment = (serverlessUrl: string): Record<string, string> => ({
      ...readableOutput,
      ...environment.env,
      ...identityEnvironment({ workerId: id, endpointId, token }),
      ...(serverPorts
        ? portVariables(serverPorts)
        : channelEnvironment(endpointId, serverlessUrl, timings.pingInterval)),
    });
    onLine(`worker starts for the image ${image}`);
    const process = command ? startProgram(command) : startInContainer();
    void process.ended.then(({ description }) => onLine(`worker ${description}`));
    return { id, process, image, redact };

    function startProgram(workerCommand: WorkerCommand): WorkerProcess {
      const home = join(homeFolders, endpointId);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const env = { ...machineEnvironment(home), ...connectionEnvironment(serverlessUrl()) };
      const process = startProcess({ ...workerCommand, env, mark: workerMark(id), reaper, clock, onLine });
      return { ...process, server: serverPorts && Promise.resolve({ ...serverPorts, host: loopback }) };
    }

    function startInContainer(): WorkerProcess {
      const cmd = splitCommandLine(environment.dockerArgs);
      const needs = environment.container;
      return containers.start({
        endpointId,
        workerId: id,
        image,
        cmd,
        needs,
        serverPorts,
        env: connectionEnvironment,
        onLine,
      });
    }
  }

  /** Last error or lack of stock by endpoint id, so that each is logged once. */
  const lastErrors = new Map<string, string>();
  function logOutcome(endpointId: string, outcome: StartOutcome): StartOutcome {
    const error = "error" in outcome ? outcome.error : "noStock" in outcome ? outcome.noStock : undefined;
    if (error !== undefined && error !== lastErrors.get(endpointId)) {
      logs.write(endpointId, error);
      log.warn({ endpoint: endpointId }, error);
    }
    if (error === undefined) lastErrors.delete(endpointId);
    else lastErrors.set(endpointId, error);
    return outcome;
  }

  return {
    removeEndpoint: (endpointId: string): void => void lastErrors.delete(endpointId),
    start(endpointId: string): StartOutcome {
      try {
        return logOutcome(endpointId, start(endpointId));
      } catch (error) {
        // For example an unknown secret, a full disk, or an invalid variable.
        return logOutcome(endpointId, { error: `no worker can be started: ${messageOf(error)}` });
      }
    },
  };
}

/** The environment entry that identifies a worker's processes. */
const workerMark = (workerId: string): string => `RUNPOD_POD_ID=${workerId}`;

/**
 * Base environment of a process, which the template's variables may override. Only PATH comes from this machine. HOME is a folder of the
 * endpoint, so that tools keep their caches there and find no user credentials. TMPDIR and LANG are needed for files and encodings.
 */
const machineEnvironment = (home: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
  HOME: home,
  TMPDIR: tmpdir(),
  LANG: "C.UTF-8",
});

/**
 * Defaults for readable output of Python workers: output is unbuffered, and the public SDK does not log each request and heartbeat, as it
 * does at its default level DEBUG.
 */
const readableOutput = { PYTHONUNBUFFERED: "1", RUNPOD_DEBUG_LEVEL: "INFO" };

/** Variables that identify a worker; cannot be overridden. `token` authenticates the worker for its endpoint and is not the API key. */
const identityEnvironment = (worker: {
  workerId: string;
  endpointId: string;
  token: string;
}): Record<string, string> => ({
  RUNPOD_POD_ID: worker.workerId,
  RUNPOD_ENDPOINT_ID: worker.endpointId,
  RUNPOD_AI_API_KEY: worker.token,
});

/**
 * Variables that connect a worker to its queue; they cannot be overridden. `serverlessUrl` is the root of the job API as seen by the
 * worker; `pingInterval` is in ms.
 */
function channelEnvironment(endpointId: string, serverlessUrl: string, pingInterval: number): Record<string, string> {
  const root = `${serverlessUrl}/v2/${endpointId}`;
  return {
    // The worker replaces $ID and $RUNPOD_POD_ID and appends parameters after the "?".
    RUNPOD_WEBHOOK_GET_JOB: `${root}/job-take/$ID?gpu=local`,
    RUNPOD_WEBHOOK_POST_OUTPUT: `${root}/job-done/$RUNPOD_POD_ID/$ID?gpu=local`,
    RUNPOD_WEBHOOK_POST_STREAM: `${root}/job-stream/$RUNPOD_POD_ID/$ID?gpu=local`,
    RUNPOD_WEBHOOK_PING: `${root}/ping/$RUNPOD_POD_ID`,
    RUNPOD_PING_INTERVAL: String(pingInterval),
    // Without these, the Python SDK searches for GPUs and calls a public address before it takes jobs.
    RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: "true",
    RUNPOD_SKIP_GPU_CHECK: "true",
  };
}
