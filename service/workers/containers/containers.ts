import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { z } from "zod";
import type { ContainerNeeds } from "../../resources/endpoint-lookup";
import { readLines } from "../lines";
import type { WorkerProcess } from "../process";
import type { ServerPorts } from "../worker-server";
import { startContainer } from "./container";
import { findServer } from "./container-server";
import type { EngineAddress } from "./engine-address";
import { createEngineClient, type EngineClient, EngineError } from "./engine-client";
import { createImages, type Images } from "./images";
import { type ContainerNetwork, createNetworkFinder, networkOf } from "./network";
import { openPulledImages } from "./pulled-images";
import { labels, openContainerMark, removeContainers, removeNetworks } from "./removal";
import { type ContainerSpec, createBody, type EngineCapabilities, type GpuMode } from "./spec";
import { createVolumeFolders } from "./volume-folders";

export type Containers = ReturnType<typeof createContainers>;

/** A worker to start in a container. */
interface WorkerStart {
  endpointId: string;
  workerId: string;
  image: string;
  cmd: string[];
  needs: ContainerNeeds;
  /** Server ports of a load balancer's worker. */
  serverPorts?: ServerPorts | undefined;
  /** Returns the worker's environment for the root of the job API as seen from the container. */
  env(serverlessUrl: string): Record<string, string>;
  onLine(line: string): void;
}

/** State of a responding engine. */
interface Engine {
  client: EngineClient;
  capabilities: EngineCapabilities;
  images: Images;
  findNetwork(): Promise<ContainerNetwork>;
  /** Ids of containers that ran out of memory. */
  outOfMemory: Set<string>;
  /** Closes open requests. */
  close(): void;
}

const infoResponse = z.looseObject({
  NCPU: z.number().catch(1),
  Runtimes: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});
const createResponse = z.looseObject({ Id: z.string() });
const engineEvent = z.looseObject({ Actor: z.looseObject({ ID: z.string() }) });

/** Response timeout of an engine's first calls, ms. */
const responseTimeout = 3000;
/** Maximum delay of the engine's out-of-memory event after a container's end, ms. */
const eventTimeout = 300;

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
}: {
  /** Returns the engine's address; throws an Error with the reason if it is unknown. */
  address(): EngineAddress;
  dataFolder: string;
  gpuMode: GpuMode;
  /** Listens on an address of this machine for workers' calls only; resolves with the port. */
  listen(address: string): Promise<number>;
  clock: Clock;
  log: Pick<Logger, "info" | "warn">;
}) {
  let engine: Engine | undefined;
  let unavailableReason: string | undefined;
  let connecting: Promise<void> | undefined;
  const closed = new AbortController();
  const mark = openContainerMark(dataFolder);
  const pulledImages = openPulledImages(dataFolder);
  const volumes = createVolumeFolders(dataFolder);

  async function connect(): Promise<void> {
    const timeout = new AbortController();
    const finished = new AbortController();
    clock.sleep(responseTimeout, finished.signal).then(
      () => timeout.abort(),
      () => undefined,
    );
    try {
      const client = createEngineClient(address());
      const signal = AbortSignal.any([timeout.signal, closed.signal]);
      const { NCPU, Runtimes } = infoResponse.parse(await client.call("GET", "/info", { signal }));
      const removed = await removeContainers(client, dataFolder);
      if (removed > 0) log.warn({ containers: removed }, "removed containers left by an earlier service");
      const capabilities = { cpus: NCPU, gpus: Runtimes?.["nvidia"] !== undefined, diskLimit: true };
      engine = openEngine(client, capabilities);
      unavailableReason = undefined;
    } catch (error) {
      unavailableReason = error instanceof Error ? error.message : String(error);
    } finally {
      finished.abort();
    }
  }

  function openEngine(client: EngineClient, capabilities: EngineCapabilities): Engine {
    const images = createImages(client, clock, pulledImages.add);
    const name = networkOf(dataFolder);
    const findNetwork = createNetworkFinder({ client, name, labels: { [labels.data]: dataFolder }, listen });
    const closing = new AbortController();
    const outOfMemory = new Set<string>();
    const filters = JSON.stringify({ event: ["oom"], label: [`${labels.data}=${dataFolder}`] });
    const watchMemory = async (): Promise<void> => {
      const events = await client.open("GET", "/events", { query: { filters }, signal: closing.signal });
      await readLines(events, (line) => {
        const event = engineEvent.safeParse(JSON.parse(line || "{}"));
        if (event.success) outOfMemory.add(event.data.Actor.ID);
      });
    };
    watchMemory().catch(() => undefined);
    return {
      client,
      capabilities,
      images,
      findNetwork,
      outOfMemory,
      close() {
        closing.abort();
        images.close();
      },
    };
  }

  function connectOnce(): Promise<void> {
    connecting ??= connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  /** Disconnects from the engine; the next container start reconnects. */
  function disconnect(error: EngineError): void {
    engine?.close();
    engine = undefined;
    unavailableReason = error.message;
  }

  return {
    /**
     * Connects to the engine if one is `required` or an earlier service on this folder may have left containers, and removes these. Never
     * fails; `problem` returns the reason.
     */
    async open(required: boolean): Promise<void> {
      if (required || mark.isSet()) await connectOnce();
    },

    /** Resolves after the first attempt to connect to an engine; undefined once that has ended. */
    firstConnection: (): Promise<void> | undefined =>
      engine || unavailableReason !== undefined ? undefined : connectOnce(),

    /** The reason why no container can be started; undefined if one can. Retries the connection if no engine responds. */
    problem(): string | undefined {
      if (engine) return undefined;
      void connectOnce();
      return unavailableReason ?? "the Docker Engine has not responded yet";
    },

    start(start: WorkerStart): WorkerProcess {
      const current = engine;
      if (!current) throw new Error(unavailableReason ?? "no Docker Engine responds");
      const { client, capabilities, images, findNetwork, outOfMemory } = current;
      const { image, workerId, endpointId, needs, serverPorts, onLine } = start;
      mark.set();
      const name = nameOf(workerId);
      let serviceHost: string | undefined;
      async function prepare() {
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
          const env = start.env(network.serverlessUrl);
          const folder = needs.volumeId === undefined ? undefined : volumes.open(needs.volumeId);
          const spec = { ...needs, ...start, env, labels: containerLabels, volumeFolder: folder, gpuMode, network };
          return (signal: AbortSignal) => create(spec, signal);
        } catch (error) {
          if (error instanceof EngineError && error.status === 0 && engine === current) disconnect(error);
          throw error;
        }
      }
      async function create(spec: ContainerSpec, signal: AbortSignal): Promise<string> {
        const createContainer = () =>
          client.call("POST", "/containers/create", { query: { name }, body: createBody(spec, capabilities), signal });
        // Several concurrent creates may each be rejected once.
        const { diskLimit } = capabilities;
        const response = await createContainer().catch((error: unknown) => {
          if (!diskLimit || !(error instanceof EngineError) || !refusesDiskLimit.test(error.message)) throw error;
          if (capabilities.diskLimit)
            log.info("the Docker Engine's storage driver cannot limit disks; containerDiskInGb has no effect");
          capabilities.diskLimit = false;
          return createContainer();
        });
        return createResponse.parse(response).Id;
      }
      async function ranOutOfMemory(containerId: string): Promise<boolean> {
        const deadline = performance.now() + eventTimeout;
        while (!outOfMemory.has(containerId) && performance.now() < deadline) await pause(10);
        return outOfMemory.delete(containerId);
      }
      const memoryLimit = needs.cpu?.memoryInGb;
      const process = startContainer({ client, name, prepare, ranOutOfMemory, memoryLimit, clock, onLine });
      const obstacle = () =>
        serviceHost &&
        `no request from its container ${name} arrived at ${serviceHost}; if its program calls that address, allow TCP from containers to ${serviceHost} in this machine's firewall`;
      const server =
        serverPorts && process.started?.then(async () => findServer(client, name, serverPorts, await findNetwork()));
      return { ...process, obstacle, server };
    },

    /** Deletes the folder of a deleted volume. */
    removeVolume: volumes.remove,

    /** Removes pulled images that are no longer used. */
    async removeUnusedImages(inUse: ReadonlySet<string>): Promise<void> {
      if (engine) await pulledImages.removeUnused(engine.client, inUse);
    },

    /** Removes the service's containers and networks; resolves when all are removed. */
    async close(): Promise<void> {
      closed.abort();
      await connecting;
      const closedEngine = engine;
      engine = undefined;
      if (!closedEngine) return;
      closedEngine.close();
      if (!mark.isSet()) return;
      await removeContainers(closedEngine.client, dataFolder);
      await removeNetworks(closedEngine.client, dataFolder);
      mark.clear();
    },
  };
}

/** The name of a worker's container. */
const nameOf = (workerId: string): string => `serverless-compute-${workerId}`;
