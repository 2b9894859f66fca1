import type { Dialect } from "serverless-compute-api";
import { optionsOf } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { type Properties, Unknown } from "../../engine/values";
import type { Failure } from "../contract";
import { propertyOf } from "./schema";

/** The end of a message about an input that only another dialect supports. */
const requiresDialect = (dialect: Dialect, alternative: string | undefined): string =>
  `is supported only by REST ${dialect}; ${alternative ? `use ${alternative} instead` : "remove it"}, or set the provider's dialect to ${dialect}`;

/** Failures of inputs that the dialect does not support. Inputs at their defaults and unknown values are ignored. */
export function unsupportedInputs(shape: z.ZodObject, inputs: Properties, dialect: Dialect): Failure[] {
  return Object.entries(shape.shape).flatMap(([key, schema]) => {
    const { dialect: requiredDialect, determinedBy } = optionsOf(schema);
    const value = inputs[key];
    if (requiredDialect === undefined || requiredDialect === dialect) return [];
    if (value === undefined || value instanceof Unknown || value === propertyOf(schema).defaultValue) return [];
    return [{ path: key, reason: requiresDialect(requiredDialect, determinedBy) }];
  });
}
