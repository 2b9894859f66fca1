import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf, StartError } from "../errors";
import { openDatabase } from "../store/database";
import type { EngineAddress } from "../workers/runtimes/container/engine-address";
import { createEngineClient } from "../workers/runtimes/container/engine-client";
import { openPulledImages } from "../workers/runtimes/container/pulled-images";
import { openContainerMark, removeContainers, removeNetworks } from "../workers/runtimes/container/removal";
import type { Output } from "./output";

/**
 * Removes the containers, network and pulled images that services on a data folder left in the Docker Engine. Throws a StartError while a
 * service runs on the folder.
 */
export async function prune(data: string, address: () => EngineAddress, output: Output): Promise<void> {
  const folder = resolve(data);
  // The containers belong to the process that holds the folder's lock.
  const database = existsSync(folder) ? openDatabase(folder) : undefined;
  try {
    const client = createEngineClient(address());
    const containers = await removeContainers(client, folder);
    const networks = await removeNetworks(client, folder);
    if (database) await openPulledImages(folder).removeUnused(client, new Set());
    openContainerMark(folder).clear();
    output.out(
      `Removed ${containers} containers and ${networks} networks of ${folder}, and the images that were pulled for it.`,
    );
  } catch (error) {
    throw new StartError(messageOf(error));
  } finally {
    database?.close();
  }
}
