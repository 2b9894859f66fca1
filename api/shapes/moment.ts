import { z } from "zod";

/** When something happened, as an ISO text; an answer that tells it in another form counts as one that does not tell it. */
export const moment = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === "string" ? value : undefined));
