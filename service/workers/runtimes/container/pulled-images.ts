import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomically } from "../../../store/data-folder";
import { CallError } from "../json-client";
import type { EngineClient } from "./engine-client";

const imageList = z.array(z.string());

/**
 * Images pulled by the services of a data folder; other images are never removed. The list is a file, so that later services and `prune`
 * can read it.
 */
export function openPulledImages(dataFolder: string) {
  const file = join(dataFolder, "pulled-images.json");
  const read = (): string[] => {
    try {
      return imageList.parse(JSON.parse(readFileSync(file, "utf8")));
    } catch {
      // No image was pulled, or the file is damaged; its images are then kept.
      return [];
    }
  };
  const write = (images: string[]): void => writeAtomically(file, JSON.stringify(images));
  return {
    add(image: string): void {
      write([...new Set([...read(), image])]);
    },
    /** Removes unused images, except images of other containers. If the engine rejects some, rejects with the first reason after the others. */
    async removeUnused(client: EngineClient, usedImages: ReadonlySet<string>): Promise<void> {
      const failures: unknown[] = [];
      for (const image of read().filter((name) => !usedImages.has(name))) {
        try {
          await client.call("DELETE", `/images/${image}`, { accepts: 404 });
          write(read().filter((name) => name !== image));
        } catch (error) {
          if (!(error instanceof CallError) || error.status === 0) throw error;
          // A container still uses the image; a later call removes it.
          if (error.status !== 409) failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
