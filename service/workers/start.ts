import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "serverless-compute-api/clock";
import type { JobTimings } from "../jobs/timings";
import type { EndpointLookup } from "../management/endpoint-lookup";
import { workerEnvironment, workerMark } from "./environment";
import { resolveCommand } from "./images";
import type { LogFile } from "./logs";
import { startProcess, type WorkerProcess } from "./process";
import type { Reaper } from "./reaper";
import { createRedaction, type Redact } from "./redaction";
import { newLocalId } from "./roster";

/** A started worker, or why none can be started until somebody changes something. */
export type StartOutcome = { id: string; process: WorkerProcess; image: string; redact: Redact } | { error: string };

export interface WorkerStarter {
  start(endpointId: string): StartOutcome;
}

export interface StarterDeps {
  endpoints: EndpointLookup;
  images: Record<string, string>;
  /** Folder under which each endpoint's workers have a folder of their own. */
  homes: string;
  serverlessUrl(): string;
  token(endpointId: string): string;
  log(endpointId: string): LogFile;
  reaper: Reaper;
  clock: Clock;
  timings: JobTimings;
}

/** Starts workers: the template's image and environment, the endpoint's token, a home, a log. */
export function createWorkerStarter(deps: StarterDeps): WorkerStarter {
  const { endpoints, images, homes, reaper, clock, timings } = deps;
  function start(endpointId: string): StartOutcome {
    const found = endpoints.workerEnvironment(endpointId);
    const command = resolveCommand(images, found.image, found.dockerArgs);
    if ("error" in command) return command;
    const id = newLocalId();
    const home = join(homes, endpointId);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const identity = {
      workerId: id,
      endpointId,
      token: deps.token(endpointId),
      serverlessUrl: deps.serverlessUrl(),
      home,
    };
    const env = workerEnvironment({ ...identity, pingInterval: timings.pingInterval }, found.env);
    const redact = createRedaction([...found.secretValues, identity.token]);
    const log = deps.log(endpointId);
    const onLine = (line: string): void => log.write(`${new Date(clock.now()).toISOString()} ${id} ${redact(line)}`);
    onLine(`worker starts for the image ${found.image}`);
    const process = startProcess({ ...command, env, mark: workerMark(id), reaper, clock, onLine });
    void process.ended.then(({ how }) => onLine(`worker ${how}`));
    return { id, process, image: found.image, redact };
  }

  /** The last refusal of each endpoint, so that its log says it once. */
  const refused = new Map<string, string>();
  function note(endpointId: string, outcome: StartOutcome): StartOutcome {
    const error = "error" in outcome ? outcome.error : undefined;
    if (error !== undefined && error !== refused.get(endpointId))
      deps.log(endpointId).write(`${new Date(clock.now()).toISOString()} ${error}`);
    if (error === undefined) refused.delete(endpointId);
    else refused.set(endpointId, error);
    return outcome;
  }

  return {
    start(endpointId) {
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
