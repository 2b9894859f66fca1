import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { removeMarker, writeAtomically } from "../../../store/data-folder";

/** The id of a data folder's services in clusters. A copy of the folder gets another id, so that it never removes the pods of the original. */
export function serviceIdOf(dataFolder: string): string {
  const folder = realpathSync(dataFolder);
  const fileIn = (path: string): string => join(path, "cluster-id");
  const [id, path] = existsSync(fileIn(folder)) ? readFileSync(fileIn(folder), "utf8").split("\n") : [];
  // A moved folder is no longer in its earlier place.
  const isCopy = path !== undefined && path !== folder && existsSync(fileIn(path));
  if (id !== undefined && path === folder) return id;
  const serviceId = id === undefined || isCopy ? randomUUID() : id;
  writeAtomically(fileIn(folder), `${serviceId}\n${folder}`);
  if (isCopy) openPodPlace(folder).clear();
  return serviceId;
}

/** The place and label of a data folder's pods, for the user; a killed service leaves its record, as it leaves its pods. */
export function openPodPlace(dataFolder: string) {
  const file = join(dataFolder, "cluster-pods");
  return {
    set: (place: string): void => writeAtomically(file, place),
    clear: (): void => removeMarker(file),
    /** The fact, for the user, that pods may remain in another place than `current`; none if they cannot. */
    remains(current?: string): Record<string, string> {
      const earlier = existsSync(file) ? readFileSync(file, "utf8") : current;
      if (earlier === current) return {};
      return { earlier: `pods may remain in ${earlier}` };
    },
  };
}
