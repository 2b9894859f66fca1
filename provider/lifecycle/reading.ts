import type { z } from "zod";
import type { Properties, Reading } from "./contract";
import { defaultsOf, isLeftOut } from "./properties/defaults";
import { diffProperty } from "./properties/diff";
import type { PreviewRules } from "./properties/preview-outputs";
import { propertyOf } from "./properties/schema";
import { toProperties, toValue } from "./properties/values";

/** An object as reported by the service. A missing key is not reported; an undefined value means that the object has none. */
interface Shown {
  inputs: object;
  outputs: object;
}

/** The state after a read of an object: `olds` as far as `shown` does not contradict them. `kept` are keys beside its properties. */
export function readingOf(
  id: string,
  olds: Properties,
  { inputs: actual, outputs: found }: Shown,
  rules: PreviewRules,
  kept: readonly string[],
): Reading {
  const { inputs: shape, outputs, derives = {} } = rules;
  const inputs = mergeRead(shape, olds, new Map(Object.entries(actual)), rules);
  const before = [...kept, ...Object.keys(outputs.shape)].map((key) => [key, olds[key]]);
  // The service's values of properties that the program leaves out are not in `inputs`, so they must not be in an output.
  const derived = Object.entries(derives).map(([key, derive]) => [key, derive?.(inputs, { id })]);
  return {
    id,
    inputs,
    outputs: toProperties({
      ...Object.fromEntries(before),
      ...inputs,
      ...found,
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
  actual: Map<string, unknown>,
  rules: PreviewRules,
): Properties {
  const known = Object.keys(olds).length > 0;
  const inputs: Properties = {};
  for (const [key, schema] of Object.entries(shape.shape)) {
    const is = toValue(actual.get(key));
    const was = olds[key];
    const { fallback } = propertyOf(schema);
    const same =
      (known && isLeftOut(schema, key, olds)) ||
      !actual.has(key) ||
      diffProperty(shape, key, was, is, rules).length === 0;
    const kept = same && (known || fallback === undefined);
    const value = kept ? was : is;
    if (value !== undefined) inputs[key] = value;
  }
  return { ...inputs, ...defaultsOf(olds) };
}
