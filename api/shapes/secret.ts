import { z } from "zod";
import { limits } from "./limits";
import { isoTimestamp } from "./record-values";

const secretName = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** The fields of a secret: what the inputs of the resource and the GraphQL input are made of. */
export const secretFields = {
  name: z
    .string()
    .max(limits.nameLength)
    .regex(secretName, "letters, digits, _, . and -, starting with a letter, a digit or _")
    .describe("Name of the secret, unique in the account."),
  value: z.string().min(1).describe("The sensitive value. It is write-only."),
  description: z.string().describe("Purpose of the secret."),
};

/** A value that a worker can have in its environment: the store would cut it at a null character, and no process can have one there. */
export const secretValue = secretFields.value.refine((text) => !text.includes("\0"), {
  error: "must not contain a null character",
});

/** A secret as the service returns it; never with its value. */
export const secretRecord = z.lazy(() =>
  z.looseObject({
    id: z.string(),
    name: z.string(),
    description: z
      .string()
      .nullish()
      .transform((value) => value ?? ""),
    createdAt: isoTimestamp,
  }),
);
export type SecretRecord = z.output<typeof secretRecord>;
