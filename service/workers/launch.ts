import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { messageOf } from "../errors";
import type { Faults } from "../faults/faults";
import type { EndpointLookup, WorkerEnvironment } from "../resources/endpoint-lookup";
import type { ServiceTimings } from "../timings";
import type { WorkerLogs } from "./logs";
import { createRedaction, type Redact } from "./redaction";
import { newLocalId, type WorkerGroup } from "./registry";
import type { CommandProblem, Runtime, Survivor, WorkerProcess, WorkerStart } from "./runtimes/runtime";
import { unsentResult } from "./sdk-log";
import { parseServer, portVariables, type ServerPorts } from "./worker-server";

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

type LoggedGroup = Pick<WorkerGroup, "endpointId" | "loggedProblem">;

export type WorkerStarter = ReturnType<typeof createWorkerStarter>;

/** Starts the workers of endpoints, with the template's image and environment, the endpoint's token and a log. */
export function createWorkerStarter({
  endpoints,
  runtime,
  token: tokenOf,
  logs,
  log,
  faults,
  onUnsentResult,
  timings,
}: {
  endpoints: EndpointLookup;
  runtime: Pick<Runtime, "prepare">;
  token(endpointId: string): string;
  logs: Pick<WorkerLogs, "write">;
  log: Pick<Logger, "warn">;
  faults: Pick<Faults, "lackOfStock" | "workerProgram">;
  /** Called if a worker cannot return the result of a job, with the reason. */
  onUnsentResult(job: { endpointId: string; workerId: string; jobId: string }, reason: string): void;
  timings: ServiceTimings;
}) {
  /** Starts or continues a worker with the endpoint's current environment. */
  function run(
    endpointId: string,
    id: string,
    environment: WorkerEnvironment,
    begin: (worker: WorkerStart) => WorkerProcess,
  ): StartedWorker {
    const { image } = environment;
    const configuration = configurationOf(endpointId, environment);
    const token = tokenOf(endpointId);
    const redact = createRedaction([...environment.secretValues, token]);
    const onLine = (line: string): void => {
      logs.write(endpointId, `${id} ${redact(line)}`);
      const unsent = unsentResult(line);
      if (unsent) onUnsentResult({ endpointId, workerId: id, jobId: unsent.jobId }, redact(unsent.reason));
    };
    const env = (serverlessUrl: string, serverPorts: ServerPorts | undefined): Record<string, string> => ({
      ...readableOutput,
      ...environment.env,
      ...identityEnvironment({ workerId: id, endpointId, token }),
      ...(serverPorts
        ? portVariables(serverPorts)
        : channelEnvironment(endpointId, serverlessUrl, timings.pingInterval)),
    });
    const process = begin({ endpointId, workerId: id, environment, env, configuration, onLine });
    void process.ended.then(({ description }) => onLine(`worker ${description}`));
    return { id, process, image, redact };
  }

  /** Returns a hash of all that a worker is started with. The token makes it unguessable. */
  function configurationOf(endpointId: string, environment: WorkerEnvironment): string {
    // A running worker's volume can grow.
    const container = { ...environment.container, volumeSizeInGb: undefined };
    return createHash("sha256")
      .update(JSON.stringify([{ ...environment, container }, tokenOf(endpointId)]))
      .digest("hex")
      .slice(0, 32);
  }

  const serverPortsOf = (endpointId: string, { env }: WorkerEnvironment): ServerPorts | undefined =>
    endpoints.get(endpointId)?.type === "LB" ? parseServer(env) : undefined;

  /** The lack of stock, injected or of the service, that prevents the start of workers; undefined if there is stock. */
  const lackOfStock = (endpointId: string): string | undefined =>
    faults.lackOfStock(endpointId) ?? endpoints.lackOfStock(endpointId);

  function start(endpointId: string): StartOutcome {
    const noStock = lackOfStock(endpointId);
    if (noStock !== undefined) return { noStock };
    const environment = endpoints.workerEnvironment(endpointId);
    const { image, dockerArgs } = environment;
    const requestedPorts = serverPortsOf(endpointId, environment);
    const program = faults.workerProgram(endpointId);
    const preparation = runtime.prepare({ image, dockerArgs, serverPorts: requestedPorts, program });
    if (!("start" in preparation)) return preparation;
    return run(endpointId, newLocalId(), environment, (worker) => {
      worker.onLine(`worker starts for the image ${image}`);
      return preparation.start(worker);
    });
  }

  function logOutcome(group: LoggedGroup, outcome: StartOutcome): StartOutcome {
    const { endpointId } = group;
    const error = "error" in outcome ? outcome.error : "noStock" in outcome ? outcome.noStock : undefined;
    if (error !== undefined && error !== group.loggedProblem) {
      logs.write(endpointId, error);
      log.warn({ endpoint: endpointId }, error);
    }
    group.loggedProblem = error;
    return outcome;
  }

  return {
    lackOfStock,
    /** Continues a worker of an earlier service; an outdated one only if it `isBusy`. Returns undefined for any other worker. */
    adopt(survivor: Survivor, isBusy: boolean): { started: StartedWorker; isCurrent: boolean } | undefined {
      const { endpointId, workerId } = survivor;
      try {
        const environment = endpoints.workerEnvironment(endpointId);
        const isCurrent = configurationOf(endpointId, environment) === survivor.configuration;
        if (!isCurrent && !isBusy) return undefined;
        const serverPorts = serverPortsOf(endpointId, environment);
        const started = run(endpointId, workerId, environment, (worker) => survivor.adopt(worker, serverPorts));
        return { started, isCurrent };
      } catch {
        // For example a secret that was deleted; a new worker reports it.
        return undefined;
      }
    },
    start(group: LoggedGroup): StartOutcome {
      try {
        return logOutcome(group, start(group.endpointId));
      } catch (error) {
        // For example an unknown secret, a full disk, or an invalid variable.
        return logOutcome(group, { error: `no worker can be started: ${messageOf(error)}` });
      }
    },
  };
}

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
