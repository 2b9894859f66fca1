import { z } from "zod";

/** How values of responses are read. */

/** A value that may be null or left out: undefined then. */
export const orNothing = <Shape extends z.ZodType>(shape: Shape) =>
  shape.nullish().transform((value) => value ?? undefined);

/** A list that may be null or left out: empty then. */
export const listOf = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .array(shape)
    .nullish()
    .transform((value) => value ?? []);

/** When something happened, in ISO 8601; a response that has it in another form counts as one that does not have it. */
export const isoTimestamp = z.lazy(() =>
  z
    .unknown()
    .optional()
    .transform((value) => (typeof value === "string" ? value : undefined)),
);
