import { type Fields, optionsOf } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { Value } from "../../provider/engine/values";

/** Two values of a plain property and its empty value, by the type of its shape. */
function sampleValues(shape: z.core.$ZodType): { values: [Value, Value]; empty: Value } {
  if (shape instanceof z.ZodBoolean) return { values: [false, true], empty: false };
  if (shape instanceof z.ZodNumber) return { values: [5, 6], empty: 0 };
  if (shape instanceof z.ZodEnum) return { values: [shape.options[0] ?? "", shape.options[1] ?? ""], empty: "" };
  if (shape instanceof z.ZodArray) return { values: [["one"], ["one", "two"]], empty: [] };
  return { values: ["one", "two"], empty: "" };
}

/** Properties of a kind that have the same name and form in every API, without the `special` properties. */
export const plainProperties = (fields: Fields, special: readonly string[]) =>
  Object.entries(fields).flatMap(([name, shape]) => {
    const { dialect, v2, optionalInGraphql, computedWhenUnset } = optionsOf(shape);
    const isPlain = !(dialect ?? v2 ?? optionalInGraphql) && !special.includes(name);
    return isPlain ? [{ name, computedWhenUnset, ...sampleValues(shape) }] : [];
  });
