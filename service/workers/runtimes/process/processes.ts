import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "serverless-compute-api/clock";
import { removeFolder } from "../../../store/data-folder";
import { loopback, type ServerPorts } from "../../worker-server";
import type { Preparation, StartRequest, WorkerCommand, WorkerProcess, WorkerStart } from "../runtime";
import { resolveCommand } from "./image-command";
import { createPorts } from "./ports";
import { startProcess } from "./process";
import { createReaper } from "./reaper";

/** Runs the commands of images as processes on this machine, each with a home folder of its endpoint. */
export function createProcesses({
  images,
  dataFolder,
  serverlessUrl,
  clock,
}: {
  /** Image name → command line or handler file. */
  images: Record<string, string>;
  dataFolder: string;
  /** Root of the job API; called once the server listens. */
  serverlessUrl(): string;
  clock: Clock;
}) {
  const reaper = createReaper(dataFolder);
  const ports = createPorts();
  const homeOf = (endpointId: string): string => join(dataFolder, "workers", endpointId);

  function start(command: WorkerCommand, serverPorts: ServerPorts | undefined, worker: WorkerStart): WorkerProcess {
    const { endpointId, workerId, onLine } = worker;
    const home = homeOf(endpointId);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const env = { ...machineEnvironment(home), ...worker.env(serverlessUrl(), serverPorts) };
    const process = startProcess({ ...command, env, mark: workerMark(workerId), reaper, clock, onLine });
    return { ...process, server: serverPorts && Promise.resolve({ ...serverPorts, host: loopback }) };
  }

  return {
    /** Resolves when the workers of an earlier service on the data folder have ended. */
    earlierEnded: reaper.waitForPredecessors,

    /** Prepares a worker; `containerProblem` is the reason why its image does not run in a container. */
    prepare(request: StartRequest, containerProblem?: string): Preparation {
      const { image, dockerArgs, serverPorts: requestedPorts } = request;
      const options = { containerProblem, isServer: requestedPorts !== undefined };
      const command = request.program ?? resolveCommand(images, image, dockerArgs, options);
      if ("error" in command) return command;
      const serverPorts = requestedPorts && ports.claim(requestedPorts);
      if (requestedPorts && !serverPorts) return { ready: ports.reserve() };
      return { start: (worker) => start(command, serverPorts, worker) };
    },

    /** Deletes the home folder of a deleted endpoint. */
    removeEndpoint: (endpointId: string) => removeFolder(homeOf(endpointId)),
    close: reaper.close,
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
