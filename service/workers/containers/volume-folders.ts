import { chmodSync, mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

/** Folders of network volumes in a data folder, which containers mount. */
export function createVolumeFolders(dataFolder: string) {
  const folderOf = (volumeId: string): string => join(dataFolder, "volumes", volumeId);
  return {
    /** Creates the folder of a volume and returns its path. Any user of a container may write to it; the data folder excludes other users. */
    open(volumeId: string): string {
      const folder = folderOf(volumeId);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      chmodSync(folder, 0o777);
      return folder;
    },
    remove: (volumeId: string): Promise<void> => rm(folderOf(volumeId), { recursive: true, force: true }),
  };
}
