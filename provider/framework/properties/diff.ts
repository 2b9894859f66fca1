import { isDeepStrictEqual } from "node:util";
import type { Dialect } from "serverless-compute-api";
import { optionsOf } from "serverless-compute-api/shapes";
import { z } from "zod";
import {
  hasUnknown,
  isEmpty,
  isProperties,
  type Properties,
  toProperties,
  Unknown,
  type Value,
} from "../../engine/values";
import type { Change } from "../contract";
import { isDetermined, isOmittedFrom, isRecorded } from "./defaults";
import { childOf, propertyOf, valueIfPresent } from "./schema";

/**
 * Differences between deployed and desired properties. Only properties of the shape count, absent means default, omitted
 * properties have no differences, unordered lists are sets, maps are compared key by key, and a value that is unknown before deployment counts as a change.
 */
export function diffProperties(shape: z.ZodObject, olds: Properties, news: Properties, dialect?: Dialect): Change[] {
  return Object.entries(shape.shape).flatMap(([key, schema]) => {
    if (olds[key] === undefined && news[key] === undefined) return [];
    // A property that the program still omits keeps the value of the service.
    if (isRecorded(olds, key) && isOmittedFrom(news, key, schema) && !isDetermined(shape, key, news)) return [];
    const changes = diffProperty(shape, key, comparedValue(shape, key, olds), comparedValue(shape, key, news), dialect);
    // A default is compared like an absent value, but it is not absent.
    const hasValues = [olds[key], news[key]].every((value) => (value ?? null) !== null && !isEmpty(value));
    return changes.map((change) => (hasValues && change.path.length === 1 ? { ...change, kind: "update" } : change));
  });
}

/** The value of a property. An empty one, or the default, is absent, unless it overrides the value that another property determines. */
function comparedValue(shape: z.ZodObject, key: string, properties: Properties): Value | undefined {
  const schema = shape.shape[key];
  const { determinedBy, serviceDefault } = schema ? optionsOf(schema) : {};
  const value = properties[key];
  const isDefault = isEmpty(value) || isDeepStrictEqual(value, serviceDefault);
  return determinedBy !== undefined && isDefault && !isDetermined(shape, key, properties) ? undefined : value;
}

/** Returns true if an option of all dialects or of one applies in a dialect. */
const appliesTo = (option: true | Dialect | undefined, dialect: Dialect | undefined): boolean =>
  option === true || (option !== undefined && option === dialect);

/** True if the properties that the service shows agree with `inputs`. Properties that it does not show are ignored. */
export function matchesInputs(shape: z.ZodObject, actual: object, inputs: object, dialect?: Dialect): boolean {
  const [reported, desired] = [toProperties(actual), toProperties(inputs)];
  return Object.keys(actual).every(
    (key) => diffProperty(shape, key, reported[key], desired[key], dialect).length === 0,
  );
}

/** Differences in one property of the shape. */
export function diffProperty(
  shape: z.ZodObject,
  key: string,
  oldInput: Value | undefined,
  newInput: Value | undefined,
  dialect?: Dialect,
): Change[] {
  const schema = shape.shape[key];
  if (!schema) return [];
  const options = optionsOf(schema);
  if (options.ignoredAfterCreate) return [];
  const oldValue = normalize(schema, oldInput);
  const newValue = normalize(schema, newInput);
  if (options.computedWhenUnset && valueIfPresent(propertyOf(schema).inner, newInput) === undefined) return [];
  const changes = compare(propertyOf(schema).inner, oldValue, newValue, [key], appliesTo(options.unordered, dialect));
  // The state may lack a value that the service has determined and that is the desired one, as after a deployment with REST v1.
  const replace =
    appliesTo(options.replaceOnChanges, dialect) && !(options.computedWhenUnset && oldValue === undefined);
  return changes.map((change) => ({ ...change, replace }));
}

type Difference = Pick<Change, "path" | "kind">;

function compare(
  schema: z.core.$ZodType | undefined,
  oldValue: Value | undefined,
  newValue: Value | undefined,
  path: string[],
  unordered = false,
): Difference[] {
  if (oldValue === undefined) return newValue === undefined ? [] : [{ path, kind: "add" }];
  if (newValue === undefined) return [{ path, kind: "delete" }];
  if (newValue instanceof Unknown) return [{ path, kind: "update" }];
  if (isProperties(oldValue) && isProperties(newValue)) {
    return [...new Set([...Object.keys(oldValue), ...Object.keys(newValue)])].flatMap((key) => {
      const child = childOf(schema, key);
      const normalizeChild = (value: Value | undefined) => (child ? normalize(child, value) : value);
      return compare(
        child && propertyOf(child).inner,
        normalizeChild(own(oldValue, key)),
        normalizeChild(own(newValue, key)),
        [...path, key],
      );
    });
  }
  if (Array.isArray(oldValue) && Array.isArray(newValue))
    return isSameList(oldValue, newValue, unordered) ? [] : [{ path, kind: "update" }];
  return oldValue === newValue ? [] : [{ path, kind: "update" }];
}

/** The value of a key of an object, which may be a name that every object inherits. */
const own = (object: Properties, key: string): Value | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

function isSameList(oldValue: Value[], newValue: Value[], unordered: boolean): boolean {
  if (newValue.some(hasUnknown)) return false;
  const [a, b] = unordered ? [setOf(oldValue), setOf(newValue)] : [oldValue, newValue];
  return a.length === b.length && a.every((value, index) => compare(undefined, value, b[index], []).length === 0);
}

/** The elements in a fixed order, without repetitions. */
function setOf(list: Value[]): Value[] {
  const elements = new Map(list.map((element) => [JSON.stringify(element), element]));
  return [...elements].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, element]) => element);
}

/** The compared form of a value; undefined if absent. */
function normalize(schema: z.core.$ZodType, input: Value | undefined): Value | undefined {
  const { inner, optional, defaultValue } = propertyOf(schema);
  const { canonical, serviceDefault, determinedBy, holdsVariables } = optionsOf(schema);
  const present = valueIfPresent(inner, input);
  const value = present === undefined ? defaultValue : present;
  const compared = canonical && typeof value === "string" ? canonical(value) : value;
  if (compared === undefined || !optional || defaultValue !== undefined) return compared;
  // Variables are added to those of the other property, so that an empty map is like an absent one.
  if (holdsVariables && isEmpty(compared)) return undefined;
  // An empty value overrides the one that another property determines.
  if (determinedBy !== undefined) return compared;
  if (isDeepStrictEqual(compared, serviceDefault)) return undefined;
  return (inner instanceof z.ZodString || inner instanceof z.ZodArray) && isEmpty(compared) ? undefined : compared;
}
