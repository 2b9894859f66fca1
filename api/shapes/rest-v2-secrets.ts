import { z } from "zod";
import { limits } from "./limits";
import { secretValue } from "./secret";

/** Limits the length of a text in bytes of UTF-8. */
const atMost = (bytes: number) =>
  z.refine<string>((text) => Buffer.byteLength(text) <= bytes, { error: `must have ${bytes} bytes or fewer` });

const fields = {
  name: z
    .string()
    .min(1)
    .max(limits.nameLength)
    .regex(/^[a-zA-Z_][a-zA-Z0-9_.\-/]*$/, "letters, digits, _, ., - and /, starting with a letter or _")
    .refine((name) => !/^runpod/i.test(name), { error: "must not begin with RUNPOD" }),
  value: secretValue.check(atMost(16_777_215)),
  description: z.string().check(atMost(65_535)),
};

/** Body of POST /account/secrets. */
export const v2SecretCreate = z.strictObject(fields).partial({ description: true });
export type V2SecretCreate = z.input<typeof v2SecretCreate>;

/** Body of PATCH /account/secrets/{id}; an empty description clears it. */
export const v2SecretPatch = z
  .strictObject({ value: fields.value, description: fields.description })
  .partial()
  .refine((body) => Object.keys(body).length > 0, { error: "must have value, description, or both" });
export type V2SecretPatch = z.input<typeof v2SecretPatch>;
