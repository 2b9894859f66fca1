import { z } from "zod";
import { hasUnknown, type Properties, toProperties, Unknown, type Value } from "../../engine/values";
import type { Change, PreviewContext } from "../contract";
import type { ResourceSchemas } from "../definition";
import { keptValues, serviceDetermined, withOmitted, withoutOmitted } from "./defaults";

/** How an output follows from the inputs. */
interface Computed {
  /** Inputs whose change may alter the output; an update leaves the output unchanged if none of them changes. */
  dependsOn: readonly string[];
  /** Derives the output from inputs without unknown values and the context; returns undefined if they are insufficient. */
  derive?(inputs: Properties, context: PreviewContext): Value | undefined;
}

/** Registry of the outputs: how each follows from the inputs. */
export const computed = z.registry<Computed>();

/** Adds the outputs that the inputs in a state determine. Inputs that the program omits do not count. */
export function withDerivedOutputs(outputs: z.ZodObject, id: string, state: Properties): Properties {
  const inputs = withoutOmitted(state);
  const derived = Object.entries(outputs.shape).map(([key, schema]) => [
    key,
    computed.get(schema)?.derive?.(inputs, { id }),
  ]);
  return { ...state, ...toProperties(Object.fromEntries(derived)) };
}

/**
 * Returns the outputs of a create (no `olds`) or an update with these changes: the new inputs, values derived from them, and values that
 * the update leaves unchanged. Everything else is Unknown. An input that will be absent is null, because programs treat
 * values that a preview omits as unknown.
 */
export function previewOutputs(
  { inputs: shape, outputs }: Pick<ResourceSchemas, "inputs" | "outputs">,
  olds: Properties | undefined,
  inputs: Properties,
  changes: readonly Change[],
  context: PreviewContext,
): Properties {
  const news = olds ? withOmitted(inputs, keptValues(shape, olds, inputs)) : inputs;
  const changed = new Set(changes.map(({ path }) => path[0]));
  const knownInputs = Object.fromEntries(
    Object.entries(withoutOmitted(news)).filter(([, value]) => !hasUnknown(value)),
  );

  const outputOf = (key: string, schema: z.core.$ZodType): Value => {
    const { dependsOn = [], derive } = computed.get(schema) ?? {};
    const isDecided = dependsOn.every((input) => !hasUnknown(news[input]));
    const derived = isDecided ? derive?.(knownInputs, context) : undefined;
    if (derived !== undefined) return derived;
    const oldValue = dependsOn.some((input) => changed.has(input)) ? undefined : olds?.[key];
    return oldValue === undefined ? Unknown.value : oldValue;
  };
  const absent = Object.keys(shape.shape).map((key): [string, Value] => [key, null]);
  const determined = serviceDetermined(shape, news, olds && changed);
  return {
    ...Object.fromEntries(absent),
    ...Object.fromEntries(determined.map((key) => [key, Unknown.value])),
    ...news,
    ...Object.fromEntries(Object.entries(outputs.shape).map(([key, schema]) => [key, outputOf(key, schema)])),
  };
}
