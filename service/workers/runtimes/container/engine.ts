import type { Logger } from "pino";
import { z } from "zod";
import { messageOf } from "../../../errors";
import type { SteadyClock } from "../../../steady-clock";
import type { CallError } from "../json-client";
import type { EngineAddress } from "./engine-address";
import { createEngineClient, type EngineClient, within } from "./engine-client";
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
}

const infoResponse = z.looseObject({
  NCPU: z.number().catch(1),
  Runtimes: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});

/** Response timeout of an engine's first call, ms. */
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
  /** True once the containers of earlier services are removed; later containers are workers of this service. */
  let hasRemovedRemains = false;
  const closed = new AbortController();

  async function connectOnce(): Promise<void> {
    try {
      const client = createEngineClient(address(), clock);
      const info = await within(responseTimeout, clock, (timeout) =>
        client.call("GET", "/info", { signal: AbortSignal.any([timeout, closed.signal]) }),
      );
      const { NCPU, Runtimes } = infoResponse.parse(info);
      if (!hasRemovedRemains) {
        const { containers } = await removeRemains(client, dataFolder);
        hasRemovedRemains = true;
        if (containers > 0) log.warn({ containers }, "removed containers left by an earlier service");
      }
      engine = openEngine(client, { cpus: NCPU, gpus: Runtimes?.["nvidia"] !== undefined, diskLimit: true });
      unavailableReason = undefined;
    } catch (error) {
      unavailableReason = messageOf(error);
    }
  }

  function openEngine(client: EngineClient, capabilities: EngineCapabilities): Engine {
    const images = createImages({ client, clock, onPulled, signal: closed.signal });
    const name = networkOf(dataFolder);
    const findNetwork = createNetworkFinder({ client, name, labels: { [labels.data]: dataFolder }, listen });
    return {
      client,
      capabilities,
      images,
      findNetwork,
      ranOutOfMemory: (containerId) =>
        within(eventTimeout, clock, async (signal) => {
          // With a start time, the engine first sends its latest events, then new ones.
          const query = { since: "1", filters: JSON.stringify({ event: ["oom"], container: [containerId] }) };
          for await (const _event of await client.open("GET", "/events", { query, signal })) return true;
          return false;
        }).catch(() => false),
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

    /** Disconnects from an engine that no longer responds; the next container start reconnects. Pulls of other workers go on. */
    disconnect(lost: Engine, error: CallError): void {
      if (engine !== lost) return;
      engine = undefined;
      unavailableReason = error.message;
    },

    /** Closes the connection; resolves with the engine that was connected. */
    async close(): Promise<Engine | undefined> {
      closed.abort();
      await connecting;
      const closedEngine = engine;
      engine = undefined;
      return closedEngine;
    },
  };
}
