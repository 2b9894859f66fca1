import { z } from "zod";

/** When something happened, in ISO 8601; a response that has it in another form counts as one that does not have it. */
export const isoTimestamp = z.lazy(() =>
  z
    .unknown()
    .optional()
    .transform((value) => (typeof value === "string" ? value : undefined)),
);
