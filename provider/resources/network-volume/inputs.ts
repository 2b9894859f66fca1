import { networkVolumeFields as fields } from "serverless-compute-api/shapes";
import { z } from "zod";
import { adoptExisting } from "../adopt-existing";

/** Inputs of a NetworkVolume resource (interface: Network volume). */
export const networkVolumeInputs = z.strictObject({
  ...fields,
  name: fields.name.optional(),
  type: fields.type.optional(),
  adoptExisting,
});

/** The inputs as the verbs get them: checked, the name filled in. */
export const resolvedInputs = z.object({ ...networkVolumeInputs.shape, name: z.string() });
export type Inputs = z.output<typeof resolvedInputs>;
