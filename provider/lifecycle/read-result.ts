import type { z } from "zod";
import type { Properties, ReadResult } from "./contract";
import { defaultsOf, isOmitted } from "./properties/defaults";
import { diffProperty } from "./properties/diff";
import type { PreviewRules } from "./properties/preview-outputs";
import { propertyOf } from "./properties/schema";
import { toProperties, toValue } from "./properties/values";

/** An object as reported by the service. A missing key is not reported; an undefined value means that the object has none. */
export interface ReportedObject<Inputs, Outputs> {
  inputs: { [Key in keyof Inputs]?: unknown };
  outputs: Partial<Outputs>;
}

/** Key of the state with the ids of duplicates that a create could not delete. A read keeps it. */
export const duplicatesKey = "duplicates";

/** The state after a read of an object: the old state with the reported differences. */
export function readResultOf(
  id: string,
  olds: Properties,
  { inputs: reportedInputs, outputs: reportedOutputs }: ReportedObject<object, object>,
  rules: PreviewRules,
): ReadResult {
  const { inputs: shape, outputs, outputRules } = rules;
  const inputs = mergeRead(shape, olds, new Map(Object.entries(reportedInputs)), rules);
  const oldEntries = [duplicatesKey, ...Object.keys(outputs.shape)].map((key) => [key, olds[key]]);
  // The service's values of properties that the program leaves out are not in `inputs`, so they must not be in an output.
  const derived = Object.entries(outputRules).map(([key, { derive }]) => [key, derive?.(inputs, { id })]);
  return {
    id,
    inputs,
    outputs: toProperties({
      ...Object.fromEntries(oldEntries),
      ...inputs,
      ...reportedOutputs,
      ...toProperties(Object.fromEntries(derived)),
    }),
  };
}

/**
 * The inputs after a read. A property keeps its old value if the service does not report it, reports an equivalent value, or
 * the program omits it, because then no value of the service is drift. An import (no olds) takes all reported values except
 * defaults.
 */
function mergeRead(
  shape: z.ZodObject,
  olds: Properties,
  reported: Map<string, unknown>,
  rules: PreviewRules,
): Properties {
  const hasState = Object.keys(olds).length > 0;
  const inputs: Properties = {};
  for (const [key, schema] of Object.entries(shape.shape)) {
    const newValue = toValue(reported.get(key));
    const oldValue = olds[key];
    const { defaultValue } = propertyOf(schema);
    const isUnchanged =
      (hasState && isOmitted(schema, key, olds)) ||
      !reported.has(key) ||
      diffProperty(shape, key, oldValue, newValue, rules).length === 0;
    const keepsOldValue = isUnchanged && (hasState || defaultValue === undefined);
    const value = keepsOldValue ? oldValue : newValue;
    if (value !== undefined) inputs[key] = value;
  }
  return { ...inputs, ...defaultsOf(olds) };
}
