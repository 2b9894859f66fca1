import type { z } from "zod";
import { hasUnknown, type Properties, Unknown, type Value } from "../../engine/values";
import type { PreviewContext } from "../contract";
import { keptValues, serviceDetermined, withOmitted, withoutOmitted } from "./defaults";
import { diffProperties } from "./diff";

/** How an output follows from the inputs. */
export interface Computed<Key extends string = string> {
  /** Inputs whose change may alter the output. */
  dependsOn: readonly Key[];
  /** Derives the output from inputs without unknown values and the context; returns undefined if they are insufficient. */
  derive?(inputs: Properties, context: PreviewContext): Value | undefined;
}

/** Schemas of a kind, and how its outputs follow from its inputs. */
export interface PreviewSchemas {
  inputs: z.ZodObject;
  outputs: z.ZodObject;
  computed: Readonly<Record<string, Computed>>;
}

/**
 * Returns the outputs of a create (no `olds`) or an update: the new inputs, values derived from them, and values that
 * the update leaves unchanged. Everything else is Unknown. An input that will be absent is null, because programs treat
 * values that a preview omits as unknown.
 */
export function previewOutputs(
  { inputs: shape, outputs, computed }: PreviewSchemas,
  olds: Properties | undefined,
  inputs: Properties,
  context: PreviewContext,
): Properties {
  const news = olds ? withOmitted(inputs, keptValues(shape, olds, inputs)) : inputs;
  const changed = new Set(olds && diffProperties(shape, olds, news).map(({ path }) => path[0]));
  const knownInputs = Object.fromEntries(
    Object.entries(withoutOmitted(news)).filter(([, value]) => !hasUnknown(value)),
  );

  const outputOf = (key: string): Value => {
    const { dependsOn = [], derive } = computed[key] ?? {};
    const isDecided = dependsOn.every((input) => !hasUnknown(news[input]));
    const derived = isDecided ? derive?.(knownInputs, context) : undefined;
    if (derived !== undefined) return derived;
    const oldValue = dependsOn.some((input) => changed.has(input)) ? undefined : olds?.[key];
    return oldValue === undefined ? Unknown.value : oldValue;
  };
  const absent = Object.keys(shape.shape).map((key): [string, Value] => [key, null]);
  const determined = olds ? [] : serviceDetermined(shape, news);
  return {
    ...Object.fromEntries(absent),
    ...Object.fromEntries(determined.map((key) => [key, Unknown.value])),
    ...news,
    ...Object.fromEntries(Object.keys(outputs.shape).map((key) => [key, outputOf(key)])),
  };
}
