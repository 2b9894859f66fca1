import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { z } from "zod";
import { messageOf } from "../../../errors";
import type { SteadyClock } from "../../../steady-clock";
import { readLines } from "../../lines";
import type { CallError } from "../json-client";
import type { EngineAddress } from "./engine-address";
import { createEngineClient, type EngineClient } from "./engine-client";
import { createImages, type Images } from "./images";
import { type ContainerNetwork, createNetworkFinder, networkOf } from "./network";
import { labels, removeRemains } from "./removal";
import type { EngineCapabilities } from "./spec";

/** A responding engine. */
export interface Engine {
  client: EngineClient;
  capabilities: EngineCapabilities;
  images: Images;
  findNetwork(): Promise<ContainerNetwork>;
  /** Returns whether an ended container ran out of memory. */
  ranOutOfMemory(containerId: string): Promise<boolean>;
  /** Closes open requests. */
  close(): void;
}

const infoResponse = z.looseObject({
  NCPU: z.number().catch(1),
  Runtimes: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});
const engineEvent = z.looseObject({ Actor: z.looseObject({ ID: z.string() }) });

/** Response timeout of an engine's first calls, ms. */
const responseTimeout = 3000;
/** Maximum delay of the engine's out-of-memory event after a container's end, ms. */
const eventTimeout = 300;

/** The connection to a Docker Engine. */
export function createEngineConnection({
  address,
  dataFolder,
  listen,
  onPulled,
  clock,
  log,
}: {
  /** Returns the engine's address; throws an Error with the reason if it is unknown. */
  address(): EngineAddress;
  dataFolder: string;
  /** Listens on an address of this machine for workers' calls only; resolves with the port. */
  listen(address: string): Promise<number>;
  /** Called with each pulled image. */
  onPulled(image: string): void;
  clock: SteadyClock;
  log: Pick<Logger, "warn">;
}) {
  let engine: Engine | undefined;
  let unavailableReason: string | undefined;
  let connecting: Promise<void> | undefined;
  const closed = new AbortController();

  async function connectOnce(): Promise<void> {
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
      const { containers } = await removeRemains(client, dataFolder);
      if (containers > 0) log.warn({ containers }, "removed containers left by an earlier service");
      engine = openEngine(client, { cpus: NCPU, gpus: Runtimes?.["nvidia"] !== undefined, diskLimit: true });
      unavailableReason = undefined;
    } catch (error) {
      unavailableReason = messageOf(error);
    } finally {
      finished.abort();
    }
  }

  function openEngine(client: EngineClient, capabilities: EngineCapabilities): Engine {
    const images = createImages(client, clock, onPulled);
    const name = networkOf(dataFolder);
    const findNetwork = createNetworkFinder({ client, name, labels: { [labels.data]: dataFolder }, listen });
    const closing = new AbortController();
    /** Ids of containers that ran out of memory. */
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
      async ranOutOfMemory(containerId) {
        const deadline = performance.now() + eventTimeout;
        while (!outOfMemory.has(containerId) && performance.now() < deadline) await pause(10);
        return outOfMemory.delete(containerId);
      },
      close() {
        closing.abort();
        images.close();
      },
    };
  }

  /** Connects to the engine, sharing an attempt in progress. Never fails; `problem` returns the reason. */
  function connect(): Promise<void> {
    connecting ??= connectOnce().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  return {
    connect,

    /** The engine; undefined if none responds. */
    current: (): Engine | undefined => engine,

    /** Resolves after the first attempt to connect; undefined once that has ended. */
    firstAttempt: (): Promise<void> | undefined => (engine || unavailableReason !== undefined ? undefined : connect()),

    /** The reason why no engine is connected; undefined if one is. Retries the connection if no engine responds. */
    problem(): string | undefined {
      if (engine) return undefined;
      void connect();
      return unavailableReason ?? "the Docker Engine has not responded yet";
    },

    /** Disconnects from an engine that no longer responds; the next container start reconnects. */
    disconnect(lost: Engine, error: CallError): void {
      if (engine !== lost) return;
      engine = undefined;
      lost.close();
      unavailableReason = error.message;
    },

    /** Closes the connection; resolves with the engine that was connected. */
    async close(): Promise<Engine | undefined> {
      closed.abort();
      await connecting;
      const closedEngine = engine;
      engine = undefined;
      closedEngine?.close();
      return closedEngine;
    },
  };
}
