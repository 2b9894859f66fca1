import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { z } from "zod";
import { messageOf, StartError } from "../../../errors";
import type { SteadyClock } from "../../../steady-clock";
import { removeFolder } from "../../../store/data-folder";
import { splitCommandLine } from "../../command-line";
import type { ServerPorts } from "../../worker-server";
import { CallError } from "../json-client";
import type { ImageRuntime, Preparation, StartRequest, WorkerProcess, WorkerStart } from "../runtime";
import { startContainer } from "./container";
import { createEngineConnection } from "./engine";
import type { EngineAddress } from "./engine-address";
import { findServer } from "./network";
import { openPulledImages } from "./pulled-images";
import { labels, openContainerMark, removeRemains } from "./removal";
import { type ContainerSpec, createBody, type GpuMode } from "./spec";

const createResponse = z.looseObject({ Id: z.string() });

/** Errors of storage drivers that cannot limit a disk (overlay2 names the option, vfs the quota), but not of a full disk. */
const refusesDiskLimit = /storage-?\s?opt|support.*quota|quota.*support/i;

/** Runs workers as containers of a Docker Engine. */
export function createContainers({
  address,
  dataFolder,
  gpuMode,
  listen,
  clock,
  log,
  isRequired,
  withoutEngine,
}: {
  /** Returns the engine's address; throws an Error with the reason if it is unknown. */
  address(): EngineAddress;
  dataFolder: string;
  gpuMode: GpuMode;
  /** Listens on an address of this machine for workers' calls only; resolves with the port. */
  listen(address: string): Promise<number>;
  clock: SteadyClock;
  log: Pick<Logger, "info" | "warn">;
  /** True if the service does not start without an engine. */
  isRequired: boolean;
  /** Prepares a worker without an engine; `reason` is why none responds. */
  withoutEngine(request: StartRequest, reason: string): Preparation;
}) {
  const mark = openContainerMark(dataFolder);
  const pulledImages = openPulledImages(dataFolder);
  const connection = createEngineConnection({ address, dataFolder, listen, onPulled: pulledImages.add, clock, log });
  const volumeFolder = (volumeId: string): string => join(dataFolder, "volumes", volumeId);

  /** Creates a volume's folder and returns its path. All users in a container may write to it; the data folder excludes others. */
  function openVolume(volumeId: string): string {
    const folder = volumeFolder(volumeId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o777);
    return folder;
  }

  function start(worker: WorkerStart, serverPorts: ServerPorts | undefined): WorkerProcess {
    const engine = connection.current();
    if (!engine) throw new Error(connection.problem());
    const { client, capabilities, images, findNetwork, ranOutOfMemory } = engine;
    const { workerId, endpointId, environment, onLine } = worker;
    const { image, container: needs } = environment;
    const cmd = splitCommandLine(environment.dockerArgs);
    mark.set();
    const name = `serverless-compute-${workerId}`;
    let serviceHost: string | undefined;
    const prepare = async () => {
      try {
        await images.ensure(image, needs.registryAuth, onLine);
        const network = await findNetwork();
        const containerLabels = {
          [labels.data]: dataFolder,
          [labels.endpoint]: endpointId,
          [labels.worker]: workerId,
        };
        serviceHost = new URL(network.serverlessUrl).host;
        onLine(`runs in the container ${name}, which reaches the service at ${network.serverlessUrl}`);
        const env = worker.env(network.serverlessUrl, serverPorts);
        const folder = needs.volumeId === undefined ? undefined : openVolume(needs.volumeId);
        const spec = {
          ...needs,
          image,
          workerId,
          cmd,
          env,
          labels: containerLabels,
          serverPorts,
          volumeFolder: folder,
          gpuMode,
          network,
        };
        return (signal: AbortSignal) => create(spec, signal);
      } catch (error) {
        if (error instanceof CallError && error.status === 0) connection.disconnect(engine, error);
        throw error;
      }
    };
    async function create(spec: ContainerSpec, signal: AbortSignal): Promise<string> {
      const createContainer = () =>
        client.call("POST", "/containers/create", { query: { name }, body: createBody(spec, capabilities), signal });
      // Several concurrent creates may each be rejected once.
      const response = await createContainer().catch((error: unknown) => {
        if (!refusesDiskLimit.test(messageOf(error))) throw error;
        if (capabilities.diskLimit)
          log.info("the Docker Engine's storage driver cannot limit disks; containerDiskInGb has no effect");
        capabilities.diskLimit = false;
        return createContainer();
      });
      return createResponse.parse(response).Id;
    }
    const memoryLimit = needs.cpu?.memoryInGb;
    const process = startContainer({ client, name, prepare, ranOutOfMemory, memoryLimit, clock, onLine });
    const obstacle = () =>
      serviceHost &&
      `no request from its container ${name} arrived at ${serviceHost}; if its program calls that address, allow TCP from containers to ${serviceHost} in this machine's firewall`;
    const server =
      serverPorts && process.started?.then(async () => findServer(client, name, serverPorts, await findNetwork()));
    return { ...process, obstacle, server };
  }

  return {
    /** Connects to the engine if it is required or an earlier service on this folder may have left containers, and removes these. */
    async open() {
      const connected = isRequired || mark.isSet() ? connection.connect() : Promise.resolve();
      if (!isRequired) return { earlierEnded: connected, survivors: [] };
      await connected;
      const problem = connection.problem();
      if (problem === undefined) return { earlierEnded: connected, survivors: [] };
      throw new StartError(`runtime "docker": ${problem}; start the engine, or start the service with another runtime`);
    },

    listen: async () => ({}),

    prepare(request: StartRequest): Preparation {
      const ready = connection.firstAttempt();
      if (ready) return { ready };
      const problem = connection.problem();
      if (problem !== undefined) return withoutEngine(request, problem);
      return { start: (worker) => start(worker, request.serverPorts) };
    },

    removeVolume: (volumeId: string): Promise<void> => removeFolder(volumeFolder(volumeId)),

    async removeUnusedImages(inUse: ReadonlySet<string>): Promise<void> {
      const engine = connection.current();
      if (engine) await pulledImages.removeUnused(engine.client, inUse);
    },

    /** Removes the service's containers and networks; resolves when all are removed. */
    async close(): Promise<void> {
      const engine = await connection.close();
      if (engine && mark.isSet()) await removeRemains(engine.client, dataFolder);
    },
  } satisfies ImageRuntime;
}
