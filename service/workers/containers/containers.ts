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
import { labels, openContainerMark, removeContainers, removeNetworks } from "./leftovers";
import { type ContainerPlace, createPlaceFinder, networkOf } from "./place";
import { openPulledImages } from "./pulled-images";
import { type ContainerSpec, createBody, type EngineAbilities, type GpuMode } from "./spec";
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
  listens?: ServerPorts | undefined;
  /** Returns the worker's environment for the root of the job API as seen from the container. */
  env(serverlessUrl: string): Record<string, string>;
  onLine(line: string): void;
}

/** State of a responding engine. */
interface Engine {
  client: EngineClient;
  abilities: EngineAbilities;
  images: Images;
  place(): Promise<ContainerPlace>;
  /** Ids of containers that ran out of memory. */
  outOfMemory: Set<string>;
  /** Closes open requests. */
  close(): void;
}

const info = z.looseObject({
  NCPU: z.number().catch(1),
  Runtimes: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});
const created = z.looseObject({ Id: z.string() });
const engineEvent = z.looseObject({ Actor: z.looseObject({ ID: z.string() }) });

/** Response timeout of an engine's first calls, ms. */
const responseTimeout = 3000;
/** Maximum delay of the engine's out-of-memory event after a container's end, ms. */
const lateEvent = 300;

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
  let why: string | undefined;
  let opening: Promise<void> | undefined;
  const closed = new AbortController();
  const mark = openContainerMark(dataFolder);
  const pulledImages = openPulledImages(dataFolder);
  const volumes = createVolumeFolders(dataFolder);

  async function connect(): Promise<void> {
    const limit = new AbortController();
    const over = new AbortController();
    clock.sleep(responseTimeout, over.signal).then(
      () => limit.abort(),
      () => undefined,
    );
    try {
      const client = createEngineClient(address());
      const signal = AbortSignal.any([limit.signal, closed.signal]);
      const { NCPU, Runtimes } = info.parse(await client.call("GET", "/info", { signal }));
      const removed = await removeContainers(client, dataFolder);
      if (removed > 0) log.warn({ containers: removed }, "removed containers left by an earlier service");
      const abilities = { cpus: NCPU, gpus: Runtimes?.["nvidia"] !== undefined, diskLimit: true };
      engine = openEngine(client, abilities);
      why = undefined;
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    } finally {
      over.abort();
    }
  }

  function openEngine(client: EngineClient, abilities: EngineAbilities): Engine {
    const images = createImages(client, clock, pulledImages.add);
    const network = networkOf(dataFolder);
    const place = createPlaceFinder({ client, network, labels: { [labels.data]: dataFolder }, listen });
    const closing = new AbortController();
    const outOfMemory = new Set<string>();
    const filters = JSON.stringify({ event: ["oom"], label: [`${labels.data}=${dataFolder}`] });
    const watch = async (): Promise<void> => {
      const events = await client.open("GET", "/events", { query: { filters }, signal: closing.signal });
      await readLines(events, (line) => {
        const event = engineEvent.safeParse(JSON.parse(line || "{}"));
        if (event.success) outOfMemory.add(event.data.Actor.ID);
      });
    };
    watch().catch(() => undefined);
    return {
      client,
      abilities,
      images,
      place,
      outOfMemory,
      close() {
        closing.abort();
        images.close();
      },
    };
  }

  function connectOnce(): Promise<void> {
    opening ??= connect().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  /** Disconnects from the engine; the next container start reconnects. */
  function lost(error: EngineError): void {
    engine?.close();
    engine = undefined;
    why = error.message;
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
    firstConnection: (): Promise<void> | undefined => (engine || why !== undefined ? undefined : connectOnce()),

    /** The reason why no container can be started; undefined if one can. Retries the connection if no engine responds. */
    problem(): string | undefined {
      if (engine) return undefined;
      void connectOnce();
      return why ?? "the Docker Engine has not responded yet";
    },

    start(start: WorkerStart): WorkerProcess {
      const current = engine;
      if (!current) throw new Error(why ?? "no Docker Engine responds");
      const { client, abilities, images, place, outOfMemory } = current;
      const { image, workerId, endpointId, needs, listens, onLine } = start;
      mark.set();
      const name = nameOf(workerId);
      let reachedAt: string | undefined;
      async function prepare() {
        try {
          await images.ensure(image, needs.registryAuth, onLine);
          const found = await place();
          const of = { [labels.data]: dataFolder, [labels.endpoint]: endpointId, [labels.worker]: workerId };
          reachedAt = new URL(found.serverlessUrl).host;
          onLine(`runs in the container ${name}, which reaches the service at ${found.serverlessUrl}`);
          const env = start.env(found.serverlessUrl);
          const folder = needs.volumeId === undefined ? undefined : volumes.open(needs.volumeId);
          const spec = { ...needs, ...start, env, labels: of, volumeFolder: folder, gpuMode, place: found };
          return (signal: AbortSignal) => create(spec, signal);
        } catch (error) {
          if (error instanceof EngineError && error.status === 0 && engine === current) lost(error);
          throw error;
        }
      }
      async function create(spec: ContainerSpec, signal: AbortSignal): Promise<string> {
        const call = () =>
          client.call("POST", "/containers/create", { query: { name }, body: createBody(spec, abilities), signal });
        // Several concurrent creates may each be rejected once.
        const { diskLimit } = abilities;
        const response = await call().catch((error: unknown) => {
          if (!diskLimit || !(error instanceof EngineError) || !refusesDiskLimit.test(error.message)) throw error;
          if (abilities.diskLimit)
            log.info("the Docker Engine's storage driver cannot limit disks; containerDiskInGb has no effect");
          abilities.diskLimit = false;
          return call();
        });
        return created.parse(response).Id;
      }
      async function ranOutOfMemory(containerId: string): Promise<boolean> {
        const until = performance.now() + lateEvent;
        while (!outOfMemory.has(containerId) && performance.now() < until) await pause(10);
        return outOfMemory.delete(containerId);
      }
      const memoryLimit = needs.cpu?.memoryInGb;
      const process = startContainer({ client, name, prepare, ranOutOfMemory, memoryLimit, clock, onLine });
      const obstacle = () =>
        reachedAt &&
        `no request from its container ${name} arrived at ${reachedAt}; if its program calls that address, allow TCP from containers to ${reachedAt} in this machine's firewall`;
      const server = listens && process.began?.then(async () => findServer(client, name, listens, await place()));
      return { ...process, obstacle, server };
    },

    /** Deletes the folder of a deleted volume. */
    removeVolume: volumes.remove,

    /** Removes pulled images that are no longer used. */
    async tidy(inUse: ReadonlySet<string>): Promise<void> {
      if (engine) await pulledImages.removeUnused(engine.client, inUse);
    },

    /** Removes the service's containers and networks; resolves when all are removed. */
    async close(): Promise<void> {
      closed.abort();
      await opening;
      const last = engine;
      engine = undefined;
      if (!last) return;
      last.close();
      if (!mark.isSet()) return;
      await removeContainers(last.client, dataFolder);
      await removeNetworks(last.client, dataFolder);
      mark.clear();
    },
  };
}

/** The name of a worker's container. */
const nameOf = (workerId: string): string => `serverless-compute-${workerId}`;
