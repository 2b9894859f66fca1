import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { CallError } from "../json-client";
import type { EngineClient } from "./engine-client";

/** Labels of all objects that a service creates in an engine. */
export const labels = {
  /** The data folder of the service. */
  data: "serverless-compute.data",
  endpoint: "serverless-compute.endpoint",
  worker: "serverless-compute.worker",
} as const;

/** A mark in a data folder that containers may be running for it; containers outlive a killed service. It contains the path in their labels. */
export function openContainerMark(dataFolder: string) {
  const file = join(dataFolder, "containers");
  return {
    isSet: (): boolean => existsSync(file),
    set: (): void => writeFileSync(file, dataFolder, { mode: 0o600 }),
    clear: (): void => rmSync(file, { force: true }),
    /** The paths in labels: the folder's path, and its earlier one if it was moved. A folder copied on this machine still exists there. */
    paths(): string[] {
      const earlier = existsSync(file) ? readFileSync(file, "utf8") : "";
      return earlier === "" || existsSync(earlier) ? [dataFolder] : [dataFolder, earlier];
    },
  };
}

/**
 * Removes the containers and networks that services on a data folder left in an engine; resolves with their numbers. Rejects with a
 * CallError if a container remains.
 */
export async function removeRemains(
  client: EngineClient,
  dataFolder: string,
): Promise<{ containers: number; networks: number }> {
  const mark = openContainerMark(dataFolder);
  const removed = { containers: 0, networks: 0 };
  for (const path of mark.paths()) {
    removed.containers += await removeContainers(client, path);
    removed.networks += await removeNetworks(client, path);
  }
  mark.clear();
  return removed;
}

const containerList = z.array(z.looseObject({ Id: z.string() }));
const networkList = z.array(z.looseObject({ Name: z.string() }));

/** Maximum time for killed containers to end, ms. */
const removalTimeout = 15_000;
const pollInterval = 50;

const labelFilter = (path: string): string => JSON.stringify({ label: [`${labels.data}=${path}`] });

/** Removes the containers with a label and resolves with their number. Rejects with a CallError if one remains. */
async function removeContainers(client: EngineClient, path: string): Promise<number> {
  const query = { all: "1", filters: labelFilter(path) };
  const listContainers = async () => containerList.parse(await client.call("GET", "/containers/json", { query }));
  const found = await listContainers();
  const deadline = performance.now() + removalTimeout;
  for (let remaining = found; remaining.length > 0; remaining = await listContainers()) {
    if (performance.now() > deadline)
      throw new CallError(0, `the Docker Engine has not removed the container ${remaining[0]?.Id}`);
    await Promise.all(remaining.map(({ Id }) => removeObject(client, `/containers/${Id}`, { force: "1", v: "1" })));
    await pause(pollInterval);
  }
  return found.length;
}

/** Removes the networks with a label to which no container is connected, and resolves with their number. */
async function removeNetworks(client: EngineClient, path: string): Promise<number> {
  const query = { filters: labelFilter(path) };
  const found = networkList.parse(await client.call("GET", "/networks", { query }));
  await Promise.all(found.map(({ Name }) => removeObject(client, `/networks/${Name}`, {})));
  return found.length;
}

/** Removes an object; succeeds if it is already removed or being removed. */
async function removeObject(client: EngineClient, path: string, query: Record<string, string>): Promise<void> {
  await client.call("DELETE", path, { query }).catch((error: unknown) => {
    if (!(error instanceof CallError) || ![404, 409].includes(error.status)) throw error;
  });
}
