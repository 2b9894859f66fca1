import { z } from "zod";
import { traits } from "../lifecycle/properties/traits";

/** The input that lets a resource take over an object which was made elsewhere. */
export const adoptExisting = z
  .boolean()
  .describe(
    "Whether to take over the one existing object of this name, made by hand or elsewhere, instead of making a new one. It is then changed to the inputs, and destroyed with the resource. False when absent.",
  )
  .optional()
  .register(traits, { onlyAtCreation: true });
