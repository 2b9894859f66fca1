import { propertyOptions } from "serverless-compute-api/shapes";
import { z } from "zod";

/** Input with which a resource adopts an existing object. */
export const adoptExisting = z
  .boolean()
  .describe(
    "Whether to adopt the existing object with this name instead of creating one; requires `name`. An adopted object is updated to the inputs that the program sets, and destroyed with the resource. Defaults to false.",
  )
  .optional()
  .register(propertyOptions, { ignoredAfterCreate: true });
