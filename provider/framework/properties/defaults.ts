import { isDeepStrictEqual } from "node:util";
import { optionsOf } from "serverless-compute-api/shapes";
import type { z } from "zod";
import type { Properties, Value } from "../../engine/values";
import type { NameSource } from "../contract";
import { propertyOf, valueIfPresent } from "./schema";

/**
 * Key for the names of properties that the program omits. Inputs contain their defaults, or the values of the service at the last
 * refresh; outputs also contain values without a default. Pulumi shows no property whose name begins with two underscores; bridged
 * providers use the same key. A name that the program does not set has an element with its source, such as `name:random`.
 */
export const defaultsKey = "__defaults";

/** The list of omitted properties with these names. */
const recordOf = (names: readonly string[]): Properties => ({ [defaultsKey]: [...new Set(names)] });

/** Names in the list of omitted properties; undefined without a list, as in the state of an imported object. */
function omittedNames({ [defaultsKey]: names }: Readonly<Record<string, unknown>>): string[] | undefined {
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : undefined;
}

/** Returns true if the list of omitted properties contains `key`. */
export function isRecorded({ [defaultsKey]: names }: Readonly<Record<string, unknown>>, key: string): boolean {
  return Array.isArray(names) && names.includes(key);
}

/** The list of omitted properties, if there is one. */
export const defaultsOf = ({ [defaultsKey]: names }: Properties): Properties =>
  names === undefined ? {} : { [defaultsKey]: names };

/** Properties that the program sets, without those that the list names. */
export function withoutOmitted(properties: Properties): Properties {
  const { [defaultsKey]: _record, ...rest } = properties;
  for (const name of omittedNames(properties) ?? []) delete rest[name];
  return rest;
}

/** Adds values of omitted properties and their names to the list. */
export function withOmitted(properties: Properties, values: Properties): Properties {
  const names = Object.keys(values);
  if (names.length === 0) return properties;
  return { ...properties, ...values, ...recordOf([...(omittedNames(properties) ?? []), ...names]) };
}

/** The property that expresses the same setting as `key`; `key` itself if there is none. */
export function alternativeOf(shape: z.ZodObject, key: string): string {
  const schema = shape.shape[key];
  return (schema && optionsOf(schema).alternativeTo) ?? key;
}

/** Values of the omitted properties of `olds` that `news` omits as well, unless it changes their setting by another property. */
export function keptValues(shape: z.ZodObject, olds: Properties, news: Properties): Properties {
  const entries = (omittedNames(olds) ?? []).flatMap((name): [string, Value][] => {
    const [schema, value] = [shape.shape[name], olds[name]];
    if (!schema || value === undefined || isDetermined(shape, name, news)) return [];
    const alternative = alternativeOf(shape, name);
    if (alternative !== name && !isDeepStrictEqual(olds[alternative], news[alternative])) return [];
    return isOmittedFrom(news, name, schema) ? [[name, value]] : [];
  });
  return Object.fromEntries(entries);
}

/**
 * Inputs that the program sets. With the option `ignoreChanges`, the engine copies values and internal properties of the state: a
 * value that the program omitted before stays omitted while it is equal.
 */
export function programInputs(olds: Properties, news: Properties): Properties {
  const entries = Object.entries(news).filter(
    ([key, value]) => key !== defaultsKey && !(isRecorded(olds, key) && isDeepStrictEqual(value, olds[key])),
  );
  return Object.fromEntries(entries);
}

const isAbsent = (schema: z.core.$ZodType, value: Value | undefined): boolean =>
  valueIfPresent(propertyOf(schema).inner, value) === undefined;

/** Returns true if another property of the program determines the value of a property that the program omits. */
export function isDetermined(shape: z.ZodObject, key: string, program: Properties): boolean {
  const schema = shape.shape[key];
  const { determinedBy } = schema ? optionsOf(schema) : {};
  return determinedBy !== undefined && !isRecorded(program, determinedBy) && (program[determinedBy] ?? null) !== null;
}

/** Returns true if inputs lack a property, or their list of omitted properties contains it. */
export const isOmittedFrom = (inputs: Properties, key: string, schema: z.core.$ZodType): boolean =>
  isRecorded(inputs, key) || isAbsent(schema, inputs[key]);

/**
 * The list of the properties that have a default and are absent from the program's inputs, and of the source of the name; empty if
 * no property has a default and the program sets the name.
 */
export function recordedDefaults(shape: z.ZodObject, program: Properties, nameSource: NameSource): Properties {
  const optional = Object.entries(shape.shape).filter(([, schema]) => propertyOf(schema).defaultValue !== undefined);
  const absent = optional.filter(([key, schema]) => isAbsent(schema, program[key]));
  const source = nameSource === "program" ? [] : [sourceElement(nameSource)];
  return optional.length + source.length === 0 ? {} : recordOf([...absent.map(([key]) => key), ...source]);
}

const sourceElement = (source: NameSource): string => `name:${source}`;

/** Returns the source of the name in checked inputs. */
export const nameSourceOf = (inputs: Properties): NameSource =>
  (["random", "autonaming"] as const).find((source) => isRecorded(inputs, sourceElement(source))) ?? "program";

/**
 * Returns true if the program omits a property, so that no value of the service is drift. In state without the list, a property at
 * its default counts as omitted.
 */
export function isOmitted(shape: z.ZodObject, key: string, olds: Properties): boolean {
  const schema = shape.shape[key];
  if (!schema || isDetermined(shape, key, olds)) return false;
  const names = omittedNames(olds);
  const { inner, optional, defaultValue } = propertyOf(schema);
  if (names?.includes(key)) return true;
  if (defaultValue === undefined) return optional && isAbsent(schema, olds[key]);
  return names === undefined && isDeepStrictEqual(valueIfPresent(inner, olds[key]) ?? defaultValue, defaultValue);
}

/**
 * Names of the omitted properties whose values the service determines when it creates an object, or when an update changes the properties
 * `changed`.
 */
export const serviceDetermined = (shape: z.ZodObject, inputs: Properties, changed?: ReadonlySet<unknown>): string[] =>
  Object.entries(shape.shape).flatMap(([key, schema]) => {
    const { computedWhenUnset, reportedWhenUnset, serviceDefault } = optionsOf(schema);
    const isReported = reportedWhenUnset || (computedWhenUnset && serviceDefault === undefined);
    if (changed && ![key, ...(reportedWhenUnset ?? [])].some((name) => changed.has(name))) return [];
    if (!isReported || !isAbsent(schema, inputs[key]) || isDetermined(shape, key, inputs)) return [];
    const alternative = inputs[alternativeOf(shape, key)];
    // A list of GPU types replaces the pools.
    return Array.isArray(alternative) && alternative.length > 0 ? [] : [key];
  });
