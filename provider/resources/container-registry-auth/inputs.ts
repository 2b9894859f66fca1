import { registryAuthFields as fields, traits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { adoptExisting } from "../adopt-existing";

/** Inputs of a ContainerRegistryAuth resource as people write them: credentials for private images. */
export const registryAuthInputs = z.strictObject({
  name: fields.name.optional().register(traits, { replaces: true, unique: true }),
  username: fields.username.register(traits, { replaces: "v2" }),
  password: fields.password.register(traits, { secret: true, replaces: "v2" }),
  adoptExisting,
});

/** The inputs as the verbs get them: checked, the name filled in. */
export const resolvedInputs = z.object({ ...registryAuthInputs.shape, name: z.string() });
export type Inputs = z.output<typeof resolvedInputs>;
