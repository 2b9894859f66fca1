import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { removeMarker, writeAtomically } from "../../../store/data-folder";
import { labels } from "./spec";

/**
 * The id of a data folder's services in clusters. A copy on the same machine gets another id, so that it never removes the pods of the
 * original. A copy on another machine is treated as a moved folder.
 */
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

/** The place of a data folder's pods; a killed service leaves its record, as it leaves its pods. */
export function openPodPlace(dataFolder: string) {
  const file = join(dataFolder, "cluster-pods");
  return {
    set: (place: string): void => writeAtomically(file, place),
    clear: (): void => removeMarker(file),
    /** The fact, for the user, that pods may remain in another place than `current`; none if they cannot. */
    remains(current?: string): Record<string, string> {
      if (!existsSync(file)) return {};
      const label = `${labels.service}=${serviceIdOf(dataFolder)}`;
      // The record of a copied folder is now removed.
      const earlier = existsSync(file) ? readFileSync(file, "utf8") : current;
      return earlier === current
        ? {}
        : { earlier: `pods may remain in ${earlier}; delete them by their label ${label}` };
    },
  };
}
