import type { z } from "zod";
import { type PreviewPlace, type Properties, Unknown, type Value } from "../contract";
import { type DiffRules, diffProperties } from "./diff";
import { hasUnknown } from "./values";

/** Derives an output from inputs without unknown values and the place; undefined if they are insufficient. */
export type Derived = (inputs: Properties, place: PreviewPlace) => Value | undefined;

/** Rules of a kind for its previews. */
export interface PreviewRules extends DiffRules {
  inputs: z.ZodObject;
  outputs: z.ZodObject;
  /** Output → the inputs whose change may alter it. */
  alters: Readonly<Record<string, readonly string[]>>;
  derives?: Readonly<Record<string, Derived | undefined>>;
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
  place: PreviewPlace,
): Properties {
  const { inputs: shape, outputs, alters, derives = {} } = rules;
  const changed = new Set(olds && diffProperties(shape, olds, news, rules).map(({ path }) => path[0]));
  const known = Object.fromEntries(Object.entries(news).filter(([, value]) => !hasUnknown(value)));

  const outputOf = (key: string): Value => {
    const by = alters[key] ?? [];
    const decided = by.every((input) => !hasUnknown(news[input]));
    const derived = decided ? derives[key]?.(known, place) : undefined;
    if (derived !== undefined) return derived;
    const had = by.some((input) => changed.has(input)) ? undefined : olds?.[key];
    return had === undefined ? Unknown.value : had;
  };
  const absent = Object.keys(shape.shape).map((key): [string, Value] => [key, null]);
  return {
    ...Object.fromEntries(absent),
    ...news,
    ...Object.fromEntries(Object.keys(outputs.shape).map((key) => [key, outputOf(key)])),
  };
}
