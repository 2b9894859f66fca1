import { optionsOf } from "serverless-compute-api/shapes";
import { type Properties, toProperties } from "../engine/values";
import type { Context } from "./contract";
import type { NamedInputs, NamedObject, ObjectDefinition } from "./definition";
import { serviceDetermined } from "./properties/defaults";
import { derivedOutputs } from "./properties/preview-outputs";
import type { ObservedObject } from "./read-result";

/** Adds what a listed record lacks. */
export const completeObject = async <Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  { complete }: ObjectDefinition<Inputs, Outputs, ApiObject>,
  object: ApiObject,
  desired: Properties,
  context: Context,
  purpose: "read" | "import" = "read",
): Promise<ApiObject> => (complete ? complete(object, desired, context, purpose) : object);

/** Converts a record; the result lacks inputs that programs of its dialect cannot set. */
export function observeObject<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  { inputs: shape, observe }: ObjectDefinition<Inputs, Outputs, ApiObject>,
  object: ApiObject,
  desired: Properties,
  context: Context,
): ObservedObject<Inputs, Outputs> {
  const observed = observe(object, desired, context);
  for (const [key, schema] of Object.entries(shape.shape)) {
    const { dialect = context.clients.dialect } = optionsOf(schema);
    if (dialect !== context.clients.dialect) Reflect.deleteProperty(observed.inputs, key);
  }
  return observed;
}

/**
 * The outputs of an object that was just created or found, including the values that the service has determined for properties that
 * the program omits.
 */
export function outputsOf<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  definition: ObjectDefinition<Inputs, Outputs, ApiObject>,
  object: ApiObject,
  desired: Properties,
  context: Context,
): Properties {
  const { inputs, outputs } = observeObject(definition, object, desired, context);
  return {
    ...pick(toProperties(outputs), Object.keys(definition.outputs.shape)),
    ...derivedOutputs(definition, desired, { id: object.id }),
    ...pick(toProperties(inputs), serviceDetermined(definition.inputs, desired)),
  };
}

/** The properties with these keys, as far as they exist. */
export const pick = (properties: Properties, keys: readonly string[]): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([key]) => keys.includes(key)));
