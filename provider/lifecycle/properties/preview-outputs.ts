import { type Properties, Unknown, type Value } from "../contract";
import type { Definition } from "../define";
import { diffProperties } from "./diff";
import { hasUnknown } from "./values";

/** What a preview knows of a resource beside its inputs. */
export interface PreviewPlace {
  /** Its id; undefined for one that is still to be made. */
  id?: string | undefined;
  /** Host address of the job API; undefined where the settings have no usable one. */
  serverlessUrl?: string | undefined;
}

/** An output that inputs and place decide; undefined where they are not enough. Gets the inputs without unknown values. */
export type Derived = (inputs: Properties, place: PreviewPlace) => Value | undefined;

/**
 * The outputs that a create (no `olds`) or an update will end with: the new inputs, what can be derived from them, and what
 * the update leaves as it is. Everything else is Unknown. An input that will be absent is null: programs take what a preview
 * leaves out for unknown.
 */
export function previewOutputs<Inputs extends object, Outputs extends object>(
  definition: Definition<Inputs, Outputs>,
  olds: Properties | undefined,
  news: Properties,
  place: PreviewPlace,
): Properties {
  const { inputs: shape, outputs, alters, derives = {} } = definition;
  const changed = new Set(olds && diffProperties(shape, olds, news, definition).map(({ path }) => path[0]));
  const known = Object.fromEntries(Object.entries(news).filter(([, value]) => !hasUnknown(value)));
  const derivations: Readonly<Record<string, Derived | undefined>> = derives;
  const deciding: Readonly<Record<string, readonly string[]>> = alters;

  const outputOf = (key: string): Value => {
    const by = deciding[key] ?? [];
    const decided = by.every((input) => !hasUnknown(news[input]));
    const derived = decided ? derivations[key]?.(known, place) : undefined;
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
