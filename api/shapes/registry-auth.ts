import { z } from "zod";
import { limits } from "./limits";
import { propertyOptions } from "./property-options";
import { recordId } from "./record-values";

/** The fields of saved credentials, used by the resource's inputs and the GraphQL inputs. */
export const registryAuthFields = {
  name: z
    .string()
    .min(1)
    .max(limits.nameLength)
    .describe("Name of the credentials, unique in the account.")
    .register(propertyOptions, { replaceOnChanges: true, unique: true }),
  username: z
    .string()
    .min(1)
    .describe("User name at the registry. It is write-only.")
    .register(propertyOptions, { writeOnly: true, replaceOnChanges: "v2" }),
  password: z
    .string()
    .min(1)
    .describe("Password or access token at the registry. It is write-only.")
    .register(propertyOptions, { secret: true, writeOnly: true, replaceOnChanges: "v2" }),
};

/** Input for new credentials. */
export type RegistryAuthCreate = Record<keyof typeof registryAuthFields, string>;

/** Input for changing saved credentials. */
export type RegistryAuthUpdate = Omit<RegistryAuthCreate, "name"> & { id: string };

/** Saved credentials as the service returns them, without user name and password. */
export const registryAuthRecord = z.lazy(() => z.looseObject({ id: recordId, name: z.string() }));
export type RegistryAuthRecord = z.output<typeof registryAuthRecord>;

/** Maximum lengths in REST v2 (characters; contract: RegistryCreate). */
export const registryAuthMaxLengths = { username: 191, password: 16_384 } as const;

/** Body of POST /registries; there is no PATCH. */
export const v2RegistryCreate = z.strictObject({
  name: registryAuthFields.name,
  username: z.string().min(1).max(registryAuthMaxLengths.username),
  password: z.string().min(1).max(registryAuthMaxLengths.password),
});
