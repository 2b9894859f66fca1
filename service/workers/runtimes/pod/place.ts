import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { removeMarker, writeAtomically } from "../../../store/data-folder";
import { labels } from "./spec";

/** The id of a data folder's services in clusters, which only this folder has. */
export function serviceIdOf(dataFolder: string): string {
  const file = join(dataFolder, "cluster-id");
  if (!existsSync(file)) writeAtomically(file, randomUUID());
  return readFileSync(file, "utf8").trim();
}

/** The place of a data folder's pods; a killed service leaves its record, as it leaves its pods. */
export function openPodPlace(dataFolder: string) {
  const file = join(dataFolder, "cluster-pods");
  return {
    set: (place: string): void => writeAtomically(file, place),
    clear: (): void => removeMarker(file),
    /** The fact, for the user, that pods may remain in another place than `current`; none if they cannot. */
    remains(current?: string): Record<string, string> {
      const earlier = existsSync(file) ? readFileSync(file, "utf8") : current;
      if (earlier === current) return {};
      const label = `${labels.service}=${serviceIdOf(dataFolder)}`;
      return { earlier: `pods may remain in ${earlier}; delete them by their label ${label}` };
    },
  };
}
