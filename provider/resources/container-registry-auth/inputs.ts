import { registryAuthFields as fields } from "serverless-compute-api/shapes";
import { z } from "zod";
import { adoptExisting } from "../adopt-existing";

/** Inputs of a ContainerRegistryAuth resource as people write them: credentials for private images. */
export const registryAuthInputs = z.strictObject({ ...fields, name: fields.name.optional(), adoptExisting });

/** The inputs as the verbs get them: checked, the name filled in. */
export const resolvedInputs = z.object({ ...registryAuthInputs.shape, name: z.string() });
export type Inputs = z.output<typeof resolvedInputs>;
