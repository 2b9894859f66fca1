import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { removeMarker, writeAtomically } from "./data-folder";

const shape = z.object({ serverlessUrl: z.url(), pid: z.int() });

/** Address and process id of the service of a data folder. */
type ServiceAddress = z.output<typeof shape>;

const addressFile = (dataFolder: string): string => join(dataFolder, "address");

/** Stores the service's address in its data folder, for other commands. */
export const writeServiceAddress = (dataFolder: string, address: ServiceAddress): void =>
  writeAtomically(addressFile(dataFolder), JSON.stringify(address));

/** Deletes the stored address, at the end of the service, and at a start because a killed service leaves it. */
export const removeServiceAddress = (dataFolder: string): void => removeMarker(addressFile(dataFolder));

/** Returns the address of a data folder's service; undefined if none is running. */
export function readServiceAddress(dataFolder: string): ServiceAddress | undefined {
  try {
    const address = shape.parse(JSON.parse(readFileSync(addressFile(dataFolder), "utf8")));
    // A killed service leaves its file behind.
    process.kill(address.pid, 0);
    return address;
  } catch {
    return undefined;
  }
}
