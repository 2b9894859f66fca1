import { dataCenterIds } from "serverless-compute-api/catalog";
import { networkVolumeFields as fields, traits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { adoptExisting } from "../adopt-existing";

/** Inputs of a NetworkVolume resource as people write them (interface: Network volume). */
export const networkVolumeInputs = z.strictObject({
  name: fields.name.optional(),
  size: fields.size.register(traits, { growsOnly: "create a new volume under another resource name" }),
  dataCenterId: fields.dataCenterId.register(traits, {
    replaces: true,
    catalog: { noun: "data centre", ids: dataCenterIds },
    warns: "a replaced volume loses its data",
  }),
  type: z
    .enum(["STANDARD", "HIGH_PERFORMANCE"])
    .describe("Storage tier; defaults to the data centre's usual tier. REST v2 only.")
    .optional()
    .register(traits, {
      ...{ replaces: true, keptWhenRemoved: true, dialect: "v2", warns: "a replaced volume loses its data" },
    }),
  adoptExisting,
});

/** The inputs as the verbs get them: checked, the name filled in. */
export const resolvedInputs = z.object({ ...networkVolumeInputs.shape, name: z.string() });
export type Inputs = z.output<typeof resolvedInputs>;
