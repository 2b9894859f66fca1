import { secretFields as fields, limits, traits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { adoptExisting } from "../adopt-existing";

/** Inputs of a Secret resource as people write them (interface: Secret). */
export const secretInputs = z.strictObject({
  // Both dialects' names; `dialectRules` has the rules of each.
  name: z
    .string()
    .max(limits.nameLength)
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.\-/]*$/, "letters, digits, _, ., - and /, starting with a letter, a digit or _")
    .describe(fields.name.description ?? "")
    .optional()
    .register(traits, { replaces: true, unique: true }),
  value: fields.value,
  description: fields.description.default(""),
  adoptExisting,
});

/** The inputs as the verbs get them: checked, the name filled in. */
export const resolvedInputs = z.object({ ...secretInputs.shape, name: z.string() });
export type Inputs = z.output<typeof resolvedInputs>;

/** Outputs of a Secret resource. */
export const secretOutputs = z.object({
  reference: z
    .string()
    .describe("The text that a template's env uses for the secret's value.")
    .register(traits, { secretWith: ["name"] }),
});
export type Outputs = z.output<typeof secretOutputs>;
