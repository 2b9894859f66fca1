import { z } from "zod";
import { adoptExisting } from "./adoption";
import { limits } from "./limits";
import { mark } from "./marks";
import { moment } from "./moment";

const secretName = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

const fields = {
  name: z
    .string()
    .max(limits.nameLength)
    .regex(secretName, "letters, digits, _, . and -, starting with a letter, a digit or _")
    .describe("Name of the secret, unique in the account."),
  value: z.string().min(1).describe("The sensitive value; it can be written and never read back."),
  description: z.string().describe("What the secret is for."),
};

/** Inputs of a Secret resource (interface: Secret). */
export const secretInputs = z.strictObject({
  name: mark(fields.name.optional(), { replaces: true, unique: true }),
  value: mark(fields.value, { secret: true }),
  description: fields.description.default(""),
  adoptExisting,
});

/** What a Secret resource knows only once it exists. */
export const secretOutputs = z.object({
  reference: mark(z.string().describe("The text that a template's env uses for the secret's value."), {
    secretWith: ["name"],
  }),
});

/** The text that a template's env uses for a secret; replaced by the value when a worker starts. */
export const secretReference = (name: string): string => `{{ RUNPOD_SECRET_${name} }}`;

/** Input of the GraphQL mutation secretCreate. */
export const secretCreateInput = z.object({
  name: fields.name,
  value: fields.value,
  description: fields.description.nullish(),
});
export type SecretCreateInput = z.output<typeof secretCreateInput>;

/** A secret as the service answers it; never with its value. */
export const secretRecord = z.looseObject({
  id: z.string(),
  name: z.string(),
  description: z
    .string()
    .nullish()
    .transform((value) => value ?? ""),
  createdAt: moment,
});
export type SecretRecord = z.output<typeof secretRecord>;
