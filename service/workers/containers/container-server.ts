import { z } from "zod";
import { loopback, type ServerPorts, type WorkerServer } from "../worker-server";
import type { EngineClient } from "./engine-client";
import type { ContainerPlace } from "./place";

const inspected = z.looseObject({
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
  { network, isDirect }: Pick<ContainerPlace, "network" | "isDirect">,
): Promise<WorkerServer> {
  const description = inspected.parse(await client.call("GET", `/containers/${container}/json`));
  const { Networks, Ports } = description.NetworkSettings;
  if (isDirect) return { ...ports, host: Networks[network]?.IPAddress ?? "" };
  const published = (port: number): number => Number(Ports?.[`${port}/tcp`]?.[0]?.HostPort);
  return { ...ports, host: loopback, port: published(ports.port), healthPort: published(ports.healthPort) };
}
