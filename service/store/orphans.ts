import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../errors";

/** Names in a folder of the data folder; none if it does not exist, or is a link to a folder that may contain other programs' files. */
const listNames = (folder: string): string[] =>
  lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : [];

/** Moves a file or folder of the data folder to `orphaned`; returns its new path in the data folder. */
function moveToOrphaned(dataFolder: string, path: string): string {
  let target = join("orphaned", path);
  for (let copy = 1; existsSync(join(dataFolder, target)); copy++) target = join("orphaned", `${path}.${copy}`);
  mkdirSync(dirname(join(dataFolder, target)), { recursive: true, mode: 0o700 });
  renameSync(join(dataFolder, path), join(dataFolder, target));
  return target;
}

/**
 * Moves volumes, worker homes and logs without a volume or endpoint in the database to `orphaned`. Nothing is deleted, because the database
 * may be new or older than the files. `report` receives a message for each file or folder.
 */
export function moveOrphans(
  dataFolder: string,
  isVolume: (id: string) => boolean,
  isEndpoint: (id: string) => boolean,
  report: (text: string) => void,
): void {
  const isKnown = {
    volumes: isVolume,
    workers: isEndpoint,
    logs: (name: string) => {
      const endpointId = /^(.+)\.log(?:\.\d)?$/.exec(name)?.[1];
      return endpointId === undefined || isEndpoint(endpointId);
    },
  };
  const orphans = (["volumes", "workers", "logs"] as const).flatMap((folder) =>
    listNames(join(dataFolder, folder))
      .filter((name) => !isKnown[folder](name))
      .map((name) => ({ folder, name })),
  );
  for (const { folder, name } of orphans) {
    const path = join(folder, name);
    const owner = folder === "volumes" ? "network volume" : "endpoint";
    try {
      const target = moveToOrphaned(dataFolder, path);
      report(`${path}: belongs to no ${owner} of the database and was moved to ${join(dataFolder, target)}`);
    } catch (error) {
      const reason = messageOf(error);
      report(`${path}: belongs to no ${owner} of the database and could not be moved (${reason})`);
    }
  }
}
