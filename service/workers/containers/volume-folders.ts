import { chmodSync, mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

/** Folders of network volumes in a data folder, mounted into containers. */
export function createVolumeFolders(dataFolder: string) {
  const folderOf = (volumeId: string): string => join(dataFolder, "volumes", volumeId);
  return {
    /** Creates a volume's folder and returns its path. All users in a container may write to it; the data folder excludes others. */
    open(volumeId: string): string {
      const folder = folderOf(volumeId);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      chmodSync(folder, 0o777);
      return folder;
    },
    remove: (volumeId: string): Promise<void> => rm(folderOf(volumeId), { recursive: true, force: true }),
  };
}
