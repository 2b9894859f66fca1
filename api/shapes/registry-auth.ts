import { z } from "zod";
import { adoptExisting } from "./adoption";
import { limits } from "./limits";
import { mark } from "./marks";

const fields = {
  name: z.string().min(1).max(limits.nameLength).describe("Name of the credentials, unique in the account."),
  username: z.string().min(1).describe("User name at the registry; it can be written and never read back."),
  password: z
    .string()
    .min(1)
    .describe("Password or access token at the registry; it can be written and never read back."),
};

/** Inputs of a ContainerRegistryAuth resource: credentials for private images. */
export const registryAuthInputs = z.strictObject({
  name: mark(fields.name.optional(), { replaces: true, unique: true }),
  username: fields.username,
  password: mark(fields.password, { secret: true }),
  adoptExisting,
});

/** What saves new credentials. */
export const registryAuthCreate = z.object(fields);
export type RegistryAuthCreate = z.output<typeof registryAuthCreate>;

/** What changes the credentials that are saved under an id. */
export const registryAuthUpdate = registryAuthCreate.omit({ name: true }).extend({ id: z.string() });
export type RegistryAuthUpdate = z.output<typeof registryAuthUpdate>;

/** Saved credentials as the service answers them: never with what was saved. */
export const registryAuthRecord = z.looseObject({ id: z.string(), name: z.string() });
export type RegistryAuthRecord = z.output<typeof registryAuthRecord>;
