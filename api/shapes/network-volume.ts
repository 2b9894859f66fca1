import { z } from "zod";
import { adoptExisting } from "./adoption";
import { limits } from "./limits";
import { mark } from "./marks";

const fields = {
  name: z.string().min(1).max(limits.nameLength).describe("Name of the volume; need not be unique."),
  size: z.int().min(0).max(4000).describe("Size in GB; it can be raised, never lowered."),
  dataCenterId: z.string().min(1).describe("Data centre that holds the volume, for example `EU-RO-1`."),
};

/** Inputs of a NetworkVolume resource. */
export const networkVolumeInputs = z.strictObject({
  name: fields.name.optional(),
  size: mark(fields.size, { growsOnly: true }),
  dataCenterId: mark(fields.dataCenterId, { replaces: true, warns: "a replaced volume loses its data" }),
  adoptExisting,
});

/** Body of POST /networkvolumes. */
export const restNetworkVolumeCreate = z.object(fields);

/** Body of PATCH /networkvolumes/{id}. */
export const restNetworkVolumePatch = z.object({ name: fields.name, size: fields.size }).partial();

/** A network volume as the service answers it. */
export const networkVolumeRecord = z.looseObject({
  id: z.string(),
  name: z.string(),
  size: z.number(),
  dataCenterId: z.string(),
});
export type NetworkVolumeRecord = z.output<typeof networkVolumeRecord>;
export type NetworkVolumeCreate = z.input<typeof restNetworkVolumeCreate>;
export type NetworkVolumePatch = z.input<typeof restNetworkVolumePatch>;
