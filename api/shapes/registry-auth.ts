import { z } from "zod";
import { limits } from "./limits";

/** The fields of saved credentials: what the inputs of the resource and the GraphQL inputs are made of. */
export const registryAuthFields = {
  name: z.string().min(1).max(limits.nameLength).describe("Name of the credentials, unique in the account."),
  username: z.string().min(1).describe("User name at the registry; it can be written and never read back."),
  password: z
    .string()
    .min(1)
    .describe("Password or access token at the registry; it can be written and never read back."),
};

/** What saves new credentials. */
export const registryAuthCreate = z.object(registryAuthFields);
export type RegistryAuthCreate = z.output<typeof registryAuthCreate>;

/** What changes the credentials that are saved under an id. */
export const registryAuthUpdate = registryAuthCreate.omit({ name: true }).extend({ id: z.string() });
export type RegistryAuthUpdate = z.output<typeof registryAuthUpdate>;

/** Saved credentials as the service returns them: never with what was saved. */
export const registryAuthRecord = z.looseObject({ id: z.string(), name: z.string() });
export type RegistryAuthRecord = z.output<typeof registryAuthRecord>;
