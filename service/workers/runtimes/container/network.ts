import { createHash } from "node:crypto";
import { z } from "zod";
import { codeOf } from "../../../errors";
import { loopback, type ServerPorts, type WorkerServer } from "../../worker-server";
import { CallError } from "../json-client";
import type { EngineClient } from "./engine-client";

/** The network of containers, and the service's address on it. */
export interface ContainerNetwork {
  name: string;
  /** Root of the job API as seen from containers. */
  serverlessUrl: string;
  /** Additional host names in containers. */
  extraHosts: string[];
  /** True if this machine reaches containers at their network addresses, false if only through published ports. */
  isDirect: boolean;
}

const networkShape = z.looseObject({
  IPAM: z.looseObject({ Config: z.array(z.looseObject({ Gateway: z.string().optional() })).nullish() }).optional(),
});

/** Host name of this machine in containers if the engine runs in a virtual machine. */
const hostName = "host.docker.internal";

function ignoreMissingAddress(error: unknown): undefined {
  if (codeOf(error) !== "EADDRNOTAVAIL") throw error;
}

/** The name of the network of a data folder's containers; they cannot reach each other on it. */
export const networkOf = (dataFolder: string): string =>
  `serverless-compute-${createHash("sha256").update(dataFolder).digest("hex").slice(0, 12)}`;

/**
 * Creates the network if it does not exist. The service listens on this machine's address on the network, or on loopback if the engine
 * runs in a virtual machine that forwards to it. Concurrent calls share one lookup.
 */
export function createNetworkFinder(deps: {
  client: EngineClient;
  name: string;
  labels: Record<string, string>;
  /** Listens on an address of this machine for workers' calls only; resolves with the port. */
  listen(address: string): Promise<number>;
}): () => Promise<ContainerNetwork> {
  const { client, name, labels, listen } = deps;
  let pendingLookup: Promise<ContainerNetwork> | undefined;

  async function gateway(): Promise<string | undefined> {
    const found = networkShape.parse(await client.call("GET", `/networks/${name}`));
    return found.IPAM?.Config?.find((config) => config.Gateway?.includes("."))?.Gateway;
  }

  async function create(): Promise<void> {
    const body = { Name: name, Driver: "bridge", CheckDuplicate: true, Labels: labels };
    const isolation = { Options: { "com.docker.network.bridge.enable_icc": "false" } };
    try {
      await client.call("POST", "/networks/create", { body: { ...body, ...isolation } });
    } catch (error) {
      // Podman, and kernels without bridge filtering, do not support this option.
      if (!(error instanceof CallError) || error.status === 0 || error.status === 409) throw error;
      await client.call("POST", "/networks/create", { body });
    }
  }

  async function find(): Promise<ContainerNetwork> {
    const address = await gateway().catch(async (error: unknown) => {
      if (!(error instanceof CallError) || error.status !== 404) throw error;
      await create();
      return gateway();
    });
    // If the engine runs in a virtual machine, no interface of this machine has the address.
    const directPort = address === undefined ? undefined : await listen(address).catch(ignoreMissingAddress);
    if (directPort !== undefined)
      return { name, serverlessUrl: `http://${address}:${directPort}`, extraHosts: [], isDirect: true };
    const port = await listen("127.0.0.1");
    const serverlessUrl = `http://${hostName}:${port}`;
    return { name, serverlessUrl, extraHosts: [`${hostName}:host-gateway`], isDirect: false };
  }

  return () => {
    pendingLookup ??= find().finally(() => {
      pendingLookup = undefined;
    });
    return pendingLookup;
  };
}

const inspectResponse = z.looseObject({
  NetworkSettings: z.looseObject({
    Networks: z.record(z.string(), z.looseObject({ IPAddress: z.string() })),
    Ports: z.record(z.string(), z.array(z.looseObject({ HostPort: z.string() })).nullable()).nullish(),
  }),
});

/**
 * Finds the address of a running container's server: on the container's network if this machine reaches it, otherwise on loopback, where
 * the ports are published.
 */
export async function findServer(
  client: Pick<EngineClient, "call">,
  container: string,
  ports: ServerPorts,
  { name, isDirect }: Pick<ContainerNetwork, "name" | "isDirect">,
): Promise<WorkerServer> {
  const description = inspectResponse.parse(await client.call("GET", `/containers/${container}/json`));
  const { Networks, Ports } = description.NetworkSettings;
  if (isDirect) return { ...ports, host: Networks[name]?.IPAddress ?? "" };
  const publishedPort = (port: number): number => Number(Ports?.[`${port}/tcp`]?.[0]?.HostPort);
  return { ...ports, host: loopback, port: publishedPort(ports.port), healthPort: publishedPort(ports.healthPort) };
}
