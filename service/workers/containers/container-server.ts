import { z } from "zod";
import { loopback, type ServerPorts, type WorkerServer } from "../worker-server";
import type { EngineClient } from "./engine-client";
import type { ContainerNetwork } from "./network";

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
