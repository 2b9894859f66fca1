import { z } from "zod";
import { type Properties, toProperties, toValue, type Value } from "../engine/values";
import type { ReadResult } from "./contract";
import type { ResourceSchemas } from "./definition";
import { defaultsOf, isOmitted, withOmitted, withoutOmitted } from "./properties/defaults";
import { diffProperty } from "./properties/diff";
import { derivedOutputs } from "./properties/preview-outputs";
import { propertyOf } from "./properties/schema";

/** An object as reported by the service. A missing key is not reported; an undefined value means that the object has none. */
export interface ObservedObject<Inputs, Outputs> {
  inputs: { [Key in keyof Inputs]?: unknown };
  outputs: Partial<Outputs>;
}

/** Key of the state with the ids of duplicates that a create could not delete. A read keeps it. */
export const duplicatesKey = "duplicates";

/** The state after a read of an object: the old state with the reported differences. */
export function readResultOf(
  id: string,
  olds: Properties,
  { inputs: reportedInputs, outputs: reportedOutputs }: ObservedObject<object, object>,
  { inputs: shape, outputs }: Pick<ResourceSchemas, "inputs" | "outputs">,
): ReadResult {
  const { inputs, determined } = mergeRead(shape, olds, new Map(Object.entries(reportedInputs)));
  const oldEntries = [duplicatesKey, ...Object.keys(outputs.shape)].map((key) => [key, olds[key]]);
  return {
    id,
    inputs,
    outputs: withOmitted(
      toProperties({
        ...Object.fromEntries(oldEntries),
        ...inputs,
        ...reportedOutputs,
        ...derivedOutputs({ outputs }, withoutOmitted(inputs), { id }),
      }),
      determined,
    ),
  };
}

/**
 * The inputs after a read, and the values that the service has determined for omitted properties without a default. A property keeps
 * its old value if the service does not report it, or reports an equivalent value. If the program omits a property, no value of the
 * service is drift, and the record of omitted properties contains it. An import (no olds) takes all reported values except defaults.
 */
function mergeRead(
  shape: z.ZodObject,
  olds: Properties,
  reported: Map<string, unknown>,
): { inputs: Properties; determined: Properties } {
  const hasState = Object.keys(olds).length > 0;
  const inputs: Properties = {};
  const omitted: Properties = {};
  const determined: Properties = {};
  for (const [key, schema] of Object.entries(shape.shape)) {
    const { inner, defaultValue } = propertyOf(schema);
    const newValue = toValue(reported.get(key));
    const oldValue = olds[key];
    const isProgramValue = !hasState || !isOmitted(shape, key, olds);
    const isUnchanged =
      !reported.has(key) ||
      diffProperty(shape, key, oldValue, newValue).length === 0 ||
      // A value that no program could set is never an input.
      !(isProgramValue || isAllowed(inner, newValue));
    const keepsOldValue = isUnchanged && (hasState || defaultValue === undefined);
    const value = keepsOldValue ? oldValue : (newValue ?? (isProgramValue ? undefined : defaultValue));
    if (value === undefined) continue;
    if (isProgramValue || !reported.has(key)) inputs[key] = value;
    else if (defaultValue === undefined) determined[key] = value;
    else omitted[key] = value;
  }
  return { inputs: withOmitted({ ...inputs, ...defaultsOf(olds) }, omitted), determined };
}

const isAllowed = (schema: z.core.$ZodType, value: Value | undefined): boolean =>
  value === undefined || z.safeParse(schema, value).success;
