import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const shape = z.object({ serverlessUrl: z.url(), pid: z.int() });

/** Where the service of a data folder listens, and its process. */
type ServiceAddress = z.output<typeof shape>;

const fileOf = (dataFolder: string): string => join(dataFolder, "address");

/** Notes where the service listens, for commands that find it by its data folder. */
export function noteServiceAddress(dataFolder: string, address: ServiceAddress): void {
  const file = fileOf(dataFolder);
  // In two steps, so that nobody reads half of it.
  writeFileSync(`${file}.new`, JSON.stringify(address), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Takes the note away: of this service when it ends, or of one that was killed before this one starts. */
export const forgetServiceAddress = (dataFolder: string): void => rmSync(fileOf(dataFolder), { force: true });

/** Where the service of a data folder listens; undefined when none runs there. */
export function readServiceAddress(dataFolder: string): ServiceAddress | undefined {
  try {
    const address = shape.parse(JSON.parse(readFileSync(fileOf(dataFolder), "utf8")));
    // One that was killed leaves its note behind.
    process.kill(address.pid, 0);
    return address;
  } catch {
    return undefined;
  }
}
