import type { Dialect } from "serverless-compute-api";
import { optionsOf } from "serverless-compute-api/shapes";
import { z } from "zod";
import { type Properties, toProperties, toValue, type Value } from "../engine/values";
import type { Context, ReadResult } from "./contract";
import type { NamedObject, ObjectDefinition, ObservedObject, ResourceSchemas } from "./definition";
import { defaultsOf, isOmitted, withOmitted, withoutOmitted } from "./properties/defaults";
import { diffProperty } from "./properties/diff";
import { withDerivedOutputs } from "./properties/preview-outputs";
import { propertyOf } from "./properties/schema";
import { duplicatesKey, unconfirmedIn, unconfirmedKey } from "./unfinished";

/** Adds what a listed record lacks. */
export const completeObject = async <ApiObject extends NamedObject>(
  { complete }: ObjectDefinition<ApiObject>,
  object: ApiObject,
  desired: Properties,
  context: Context,
  purpose: "read" | "import" = "read",
): Promise<ApiObject> => (complete ? complete(object, desired, context, purpose) : object);

/** Converts a record; the result has only inputs that programs of its dialect can set. */
export function observeObject<ApiObject extends NamedObject>(
  { inputs: shape, observe }: Pick<ObjectDefinition<ApiObject>, "inputs" | "observe">,
  object: ApiObject,
  desired: Properties,
  context: Context,
): { inputs: Record<string, unknown>; outputs: object } {
  const { inputs, outputs } = observe(object, desired, context);
  const { dialect } = context.clients;
  const schemas: Readonly<Record<string, z.core.$ZodType>> = shape.shape;
  const isAvailable = (key: string): boolean => {
    const schema = schemas[key];
    return schema !== undefined && (optionsOf(schema).dialect ?? dialect) === dialect;
  };
  return { inputs: Object.fromEntries(Object.entries(inputs).filter(([key]) => isAvailable(key))), outputs };
}

/**
 * The outputs that the service reports of an object that was just created or found, including the values that it has determined for
 * properties that the program omits.
 */
export function outputsOf<ApiObject extends NamedObject>(
  definition: Pick<ObjectDefinition<ApiObject>, "inputs" | "outputs" | "observe">,
  object: ApiObject,
  properties: Properties,
  context: Context,
): Properties {
  const { inputs, outputs } = observeObject(definition, object, withoutOmitted(properties), context);
  return {
    ...pick(outputs, Object.keys(definition.outputs.shape)),
    ...mergeRead(definition.inputs, properties, new Map(Object.entries(inputs)), context.clients.dialect).determined,
  };
}

/** The properties of an object with these keys, as far as they exist. */
export const pick = (object: object, keys: readonly string[]): Properties =>
  toProperties(Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key))));

/** The state after a read of an object: the old state with the reported differences. */
export function readResultOf(
  id: string,
  olds: Properties,
  { inputs: reportedInputs, outputs: reportedOutputs }: ObservedObject<object, object>,
  { inputs: shape, outputs }: Pick<ResourceSchemas, "inputs" | "outputs">,
  dialect: Dialect,
): ReadResult {
  const unread = unconfirmedIn(olds).filter((key) => !(key in reportedInputs));
  const { inputs, determined } = mergeRead(shape, olds, new Map(Object.entries(reportedInputs)), dialect);
  return {
    inputs,
    outputs: withOmitted(
      withDerivedOutputs(outputs, id, {
        ...pick(olds, [duplicatesKey, ...Object.keys(outputs.shape)]),
        ...(unread.length > 0 && { [unconfirmedKey]: unread }),
        ...inputs,
        ...toProperties(reportedOutputs),
      }),
      determined,
    ),
  };
}

/**
 * The inputs after a read, and the values that the service has determined for omitted properties without a default. A property keeps
 * its old value if the service does not report it, or reports an equivalent value. If the program omits a property, no value of the
 * service is drift, and the list of omitted properties contains it. An import (no olds) takes all reported values except defaults of the service.
 */
function mergeRead(
  shape: z.ZodObject,
  olds: Properties,
  reported: Map<string, unknown>,
  dialect: Dialect,
): { inputs: Properties; determined: Properties } {
  const hasState = Object.keys(olds).length > 0;
  const inputs: Properties = {};
  const omitted: Properties = {};
  const determined: Properties = {};
  for (const [key, schema] of Object.entries(shape.shape)) {
    const newValue = toValue(reported.get(key));
    const oldValue = olds[key];
    if (oldValue === undefined && !reported.has(key)) continue;
    const { inner, defaultValue } = propertyOf(schema);
    const isProgramValue = !hasState || !isOmitted(shape, key, olds);
    const isUnchanged =
      !reported.has(key) ||
      diffProperty(shape, key, oldValue, newValue, dialect).length === 0 ||
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
