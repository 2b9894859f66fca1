import { z } from "zod";
import { toValue, type Value } from "../../engine/values";

/** A property's shape without its wrappers, and its default. */
export interface Property {
  /** Shape of a present value. */
  inner: z.core.$ZodType;
  /** True if the property is optional. */
  optional: boolean;
  /** Default; undefined if there is none. */
  defaultValue: Value | undefined;
}

const cache = new WeakMap<z.core.$ZodType, Property>();

/** Unwraps a shape that is optional, has a default, or is required. */
export function propertyOf(schema: z.core.$ZodType): Property {
  const cached = cache.get(schema);
  if (cached) return cached;
  const property = unwrap(schema);
  cache.set(schema, property);
  return property;
}

function unwrap(schema: z.core.$ZodType): Property {
  if (schema instanceof z.ZodDefault)
    return { ...propertyOf(schema.def.innerType), optional: true, defaultValue: toValue(schema.def.defaultValue) };
  if (schema instanceof z.ZodOptional) return { ...propertyOf(schema.def.innerType), optional: true };
  return { inner: schema, optional: false, defaultValue: undefined };
}

/** A present value; undefined if it means absence, as null does unless the shape allows null. */
export const valueIfPresent = (inner: z.core.$ZodType, value: Value | undefined): Value | undefined =>
  value === null && !z.safeParse(inner, null).success ? undefined : value;

/** True if a program leaves a property without a default to the service, so that no value of the service is a difference. */
export function usesServiceDefault(schema: z.core.$ZodType, value: Value | undefined): boolean {
  const { inner, optional, defaultValue } = propertyOf(schema);
  return optional && defaultValue === undefined && valueIfPresent(inner, value) === undefined;
}

/** Returns the shape of `key` in an object or a list of this shape; undefined in a map, whose values have no options. */
export function childOf(schema: z.core.$ZodType | undefined, key: string): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) return schema.shape[key];
  if (schema instanceof z.ZodArray) return schema.def.element;
  return undefined;
}
