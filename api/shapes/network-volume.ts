import { z } from "zod";
import { limits } from "./limits";

/** The fields of a network volume: what the inputs of the resource and the REST bodies are made of. */
export const networkVolumeFields = {
  name: z.string().min(1).max(limits.nameLength).describe("Name of the volume; need not be unique."),
  size: z.int().min(0).max(4096).describe("Size in GB; it can be raised, never lowered."),
  dataCenterId: z.string().min(1).describe("Data centre that holds the volume, for example `EU-RO-1`."),
};

/** A network volume as the service returns it. */
export const networkVolumeRecord = z.lazy(() =>
  z.looseObject({
    id: z.string(),
    name: z.string(),
    size: z.number(),
    dataCenterId: z.string(),
  }),
);
