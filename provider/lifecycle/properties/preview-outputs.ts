import type { z } from "zod";
import { type PreviewContext, type Properties, Unknown, type Value } from "../contract";
import { type DiffRules, diffProperties } from "./diff";
import { hasUnknown } from "./values";

/** Derives an output from inputs without unknown values and the context; undefined if they are insufficient. */
export type DeriveOutput = (inputs: Properties, context: PreviewContext) => Value | undefined;

/** Rules of a kind for its previews. */
export interface PreviewRules extends DiffRules {
  inputs: z.ZodObject;
  outputs: z.ZodObject;
  /** Output → the inputs whose change may alter it. */
  outputDependencies: Readonly<Record<string, readonly string[]>>;
  derivedOutputs?: Readonly<Record<string, DeriveOutput | undefined>>;
}

/**
 * Returns the outputs of a create (no `olds`) or an update: the new inputs, values derived from them, and values that
 * the update leaves unchanged. Everything else is Unknown. An input that will be absent is null, because programs treat
 * values that a preview omits as unknown.
 */
export function previewOutputs(
  rules: PreviewRules,
  olds: Properties | undefined,
  news: Properties,
  context: PreviewContext,
): Properties {
  const { inputs: shape, outputs, outputDependencies, derivedOutputs = {} } = rules;
  const changed = new Set(olds && diffProperties(shape, olds, news, rules).map(({ path }) => path[0]));
  const knownInputs = Object.fromEntries(Object.entries(news).filter(([, value]) => !hasUnknown(value)));

  const outputOf = (key: string): Value => {
    const dependencies = outputDependencies[key] ?? [];
    const isDecided = dependencies.every((input) => !hasUnknown(news[input]));
    const derived = isDecided ? derivedOutputs[key]?.(knownInputs, context) : undefined;
    if (derived !== undefined) return derived;
    const oldValue = dependencies.some((input) => changed.has(input)) ? undefined : olds?.[key];
    return oldValue === undefined ? Unknown.value : oldValue;
  };
  const absent = Object.keys(shape.shape).map((key): [string, Value] => [key, null]);
  return {
    ...Object.fromEntries(absent),
    ...news,
    ...Object.fromEntries(Object.keys(outputs.shape).map((key) => [key, outputOf(key)])),
  };
}
