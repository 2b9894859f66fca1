import { z } from "zod";

/** A TEXT column that holds JSON of a shape. */
export const json = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(shape);
