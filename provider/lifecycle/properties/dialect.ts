import type { Dialect } from "serverless-compute-api";
import { traitsOf } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { type Failure, type Properties, Unknown } from "../contract";
import { propertyOf } from "./schema";

/** The end of a message about an input that only another dialect supports. */
export const onlyIn = (dialect: Dialect): string =>
  `only REST ${dialect} carries it; remove it, or set serverless-compute:dialect to ${dialect}`;

/** Failures of inputs that the dialect does not support. Inputs at their defaults are ignored. */
export function uncarried(shape: z.ZodObject, inputs: Properties, dialect: Dialect): Failure[] {
  return Object.entries(shape.shape).flatMap(([key, schema]) => {
    const carrier = traitsOf(schema).dialect;
    const value = inputs[key];
    if (carrier === undefined || carrier === dialect || value === undefined) return [];
    const { fallback } = propertyOf(schema);
    if (fallback !== undefined && (value === fallback || value instanceof Unknown)) return [];
    return [{ path: key, reason: onlyIn(carrier) }];
  });
}
