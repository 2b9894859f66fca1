import { z } from "zod";
import { limits } from "./limits";
import { propertyOptions } from "./property-options";
import { isoTimestamp, orDefault, recordId } from "./record-values";

const secretName = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** The fields of a secret, used by the resource's inputs and the GraphQL input. */
export const secretFields = {
  name: z
    .string()
    .max(limits.nameLength)
    .regex(secretName, "letters, digits, _, . and -, starting with a letter, a digit or _")
    .describe("Name of the secret, unique in the account."),
  value: z
    .string()
    .min(1)
    .describe("The sensitive value. It is write-only.")
    .register(propertyOptions, { secret: true, writeOnly: true }),
  description: z.string().describe("Purpose of the secret."),
};

/** A value that is valid in a worker's environment. The store would truncate it at a null character, which processes cannot have. */
export const secretValue = secretFields.value.refine((text) => !text.includes("\0"), {
  error: "must not contain a null character",
});

/** A secret as returned by the service, without its value. */
export const secretRecord = z.lazy(() =>
  z.looseObject({
    id: recordId,
    name: z.string(),
    description: orDefault(z.string(), ""),
    createdAt: isoTimestamp,
  }),
);
export type SecretRecord = z.output<typeof secretRecord>;

/** Input of the GraphQL mutation secretCreate. */
export const secretCreateInput = z.object({
  ...secretFields,
  value: secretValue,
  description: secretFields.description.nullish(),
});
/** Input of the GraphQL mutation secretValueUpdate. */
export const secretValueInput = z.object({ id: z.string(), value: secretValue });
export type SecretCreateInput = z.output<typeof secretCreateInput>;

/** Maximum lengths in REST v2 (bytes of UTF-8; contract: SecretCreate). */
export const secretMaxBytes = { value: 16_777_215, description: 65_535 } as const;

/** Names of secrets that REST v2 reserves. */
export const reservedSecretName = /^runpod/i;

/** Limits the length of a text in bytes of UTF-8. */
const maxBytes = (bytes: number) =>
  z.refine<string>((text) => Buffer.byteLength(text) <= bytes, { error: `must have ${bytes} bytes or fewer` });

const v2Fields = {
  name: z
    .string()
    .min(1)
    .max(limits.nameLength)
    .regex(/^[a-zA-Z_][a-zA-Z0-9_.\-/]*$/, "letters, digits, _, ., - and /, starting with a letter or _")
    .refine((name) => !reservedSecretName.test(name), { error: "must not begin with RUNPOD" }),
  value: secretValue.check(maxBytes(secretMaxBytes.value)),
  description: z.string().check(maxBytes(secretMaxBytes.description)),
};

/** Body of POST /account/secrets. */
export const v2SecretCreate = z.strictObject(v2Fields).partial({ description: true });

/** Body of PATCH /account/secrets/{id}; an empty description clears it. */
export const v2SecretPatch = z
  .strictObject({ value: v2Fields.value, description: v2Fields.description })
  .partial()
  .refine((body) => Object.keys(body).length > 0, { error: "must have value, description, or both" });
