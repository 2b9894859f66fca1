import { existsSync, rmSync, writeFileSync } from "node:fs";
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

/** A mark in a data folder that containers may be running for it; containers outlive a killed service. */
export function openContainerMark(dataFolder: string) {
  const file = join(dataFolder, "containers");
  return {
    isSet: (): boolean => existsSync(file),
    set: (): void => writeFileSync(file, "", { mode: 0o600 }),
    clear: (): void => rmSync(file, { force: true }),
  };
}

const containerList = z.array(z.looseObject({ Id: z.string() }));
const networkList = z.array(z.looseObject({ Name: z.string() }));

/** Maximum time for killed containers to end, ms. */
const removalTimeout = 15_000;
const pollInterval = 50;

const labelFilter = (dataFolder: string): string => JSON.stringify({ label: [`${labels.data}=${dataFolder}`] });

/** Removes the containers of a data folder and resolves with their number. Rejects with a CallError if one remains. */
export async function removeContainers(client: EngineClient, dataFolder: string): Promise<number> {
  const query = { all: "1", filters: labelFilter(dataFolder) };
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

/** Removes the networks of a data folder to which no container is connected. */
export async function removeNetworks(client: EngineClient, dataFolder: string): Promise<number> {
  const query = { filters: labelFilter(dataFolder) };
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
