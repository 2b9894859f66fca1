import { resolve } from "node:path";
import { messageOf, StartError } from "../errors";
import { onDisk } from "../store/faults";
import { lockFolder } from "../store/folder-lock";
import { hasStore } from "../store/store-file";
import type { EngineAddress } from "../workers/runtimes/container/engine-address";
import { createEngineClient } from "../workers/runtimes/container/engine-client";
import { openPulledImages } from "../workers/runtimes/container/pulled-images";
import { removeRemains } from "../workers/runtimes/container/removal";
import { CallError } from "../workers/runtimes/json-client";
import type { Output } from "./output";

/**
 * Removes the containers, network and pulled images that services on a data folder left in the Docker Engine. Throws a StartError while a
 * service runs on the folder.
 */
export async function prune(data: string, address: () => EngineAddress, output: Output): Promise<void> {
  const folder = resolve(data);
  // The containers belong to the process that holds the folder's lock. Without a store, no service runs.
  const unlock = onDisk(folder, () => (hasStore(folder) ? lockFolder(folder) : undefined));
  try {
    const client = createEngineClient(address());
    const { containers, networks } = await removeRemains(client, folder);
    await openPulledImages(folder).removeUnused(client, new Set());
    output.out(
      `Removed ${containers} containers and ${networks} networks of ${folder}, and the images that were pulled for it.`,
    );
  } catch (error) {
    const isAway = error instanceof CallError && error.status === 0;
    throw new StartError(`${messageOf(error)}${isAway ? "; start the engine, or set DOCKER_HOST to its address" : ""}`);
  } finally {
    unlock?.();
  }
}
