import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import type { Properties } from "../contract";
import { propertyOf, usesServiceDefault, valueIfPresent } from "./schema";

/**
 * Key for the names of properties that the program leaves at their defaults. Pulumi shows no property whose name begins with
 * two underscores; bridged providers use the same key.
 */
export const defaultsKey = "__defaults";

/** The record of the properties that have a default and are absent from `news`; empty if no property of the shape has one. */
export function recordedDefaults(shape: z.ZodObject, news: Properties): Properties {
  const optional = Object.entries(shape.shape).filter(([, schema]) => propertyOf(schema).defaultValue !== undefined);
  const absent = optional.filter(([key, schema]) => valueIfPresent(propertyOf(schema).inner, news[key]) === undefined);
  return optional.length === 0 ? {} : { [defaultsKey]: absent.map(([key]) => key) };
}

/** The record of defaults among `properties`, if there is one. */
export const defaultsOf = ({ [defaultsKey]: names }: Properties): Properties =>
  names === undefined ? {} : { [defaultsKey]: names };

/** Returns true if the program left `key` at its default; undefined in state of versions that did not record it. */
export function isDefaulted(properties: Properties, key: string): boolean | undefined {
  const names = properties[defaultsKey];
  return Array.isArray(names) ? names.includes(key) : undefined;
}

/**
 * Returns true if the program leaves a property out, so that no value of the service is drift. In state without the record of defaults
 * a property at its default counts as left out.
 */
export function isOmitted(schema: z.core.$ZodType, key: string, olds: Properties): boolean {
  const { inner, defaultValue } = propertyOf(schema);
  if (defaultValue === undefined) return usesServiceDefault(schema, olds[key]);
  const oldValue = valueIfPresent(inner, olds[key]) ?? defaultValue;
  return isDefaulted(olds, key) !== false && isDeepStrictEqual(oldValue, defaultValue);
}
