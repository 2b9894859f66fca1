import type { Dialect } from "serverless-compute-api";
import { traitsOf } from "serverless-compute-api/shapes";
import { z } from "zod";
import { type Change, type Properties, Unknown, type Value } from "../contract";
import { isDefaulted } from "./defaults";
import { childOf, present, propertyOf } from "./schema";
import { hasUnknown, isProperties, toProperties } from "./values";

/** Rules of a kind, beyond its shape, for equivalent values. */
export interface DiffRules {
  /** Defaults of the service for optional properties, which count as absent. */
  implied?: Readonly<Record<string, Value>>;
  /** Properties with several equivalent forms of a value. */
  same?: Readonly<Record<string, (was: Value, is: Value) => boolean>>;
  /** Dialect of the changes, which determines the properties that can change in place. */
  dialect?: Dialect | undefined;
}

/**
 * Differences between deployed and desired properties. Only properties of the shape count, absent means default,
 * unordered lists are sets, maps are compared key by key, and a value that is unknown before deployment counts as a change.
 */
export function diffProperties(
  shape: z.ZodObject,
  olds: Properties,
  news: Properties,
  rules: DiffRules = {},
): Change[] {
  return Object.entries(shape.shape).flatMap(([key, schema]) => {
    const changes = diffProperty(shape, key, olds[key], news[key], rules);
    if (changes.length > 0 || !isDefaulted(olds, key) || isDefaulted(news, key) !== false) return changes;
    // The service may have had another value, so the program's own is sent even if it is the default.
    return isReplaced(schema, rules) ? [] : [{ path: [key], kind: "update", replace: false }];
  });
}

/** Returns true if a change of the property replaces the object in the dialect of the rules. */
function isReplaced(schema: z.core.$ZodType, { dialect }: DiffRules): boolean {
  const { replaces } = traitsOf(schema);
  return replaces === true || (replaces !== undefined && replaces === dialect);
}

/** True if the properties that the service shows agree with `inputs`. Properties that it does not show are ignored. */
export function agrees(shape: z.ZodObject, actual: object, inputs: object, rules: DiffRules = {}): boolean {
  const [found, wanted] = [toProperties(actual), toProperties(inputs)];
  return Object.keys(actual).every((key) => diffProperty(shape, key, found[key], wanted[key], rules).length === 0);
}

/** Differences in one property of the shape. */
export function diffProperty(
  shape: z.ZodObject,
  key: string,
  old: Value | undefined,
  wanted: Value | undefined,
  rules: DiffRules = {},
): Change[] {
  const schema = shape.shape[key];
  if (!schema) return [];
  const traits = traitsOf(schema);
  if (traits.onlyAtCreation) return [];
  const implied = rules.implied?.[key];
  const was = normal(schema, old, implied);
  const is = normal(schema, wanted, implied);
  if (traits.keptWhenRemoved && present(propertyOf(schema).inner, wanted) === undefined) return [];
  if (was !== undefined && is !== undefined && !hasUnknown(is) && rules.same?.[key]?.(was, is)) return [];
  const changes = compare(propertyOf(schema).inner, was, is, [key], traits.unordered === true);
  const replace = isReplaced(schema, rules);
  return changes.map((change) => ({ ...change, replace }));
}

type Difference = Pick<Change, "path" | "kind">;

function compare(
  schema: z.core.$ZodType | undefined,
  was: Value | undefined,
  is: Value | undefined,
  path: string[],
  unordered = false,
): Difference[] {
  if (was === undefined) return is === undefined ? [] : [{ path, kind: "add" }];
  if (is === undefined) return [{ path, kind: "delete" }];
  if (is instanceof Unknown) return [{ path, kind: "update" }];
  if (isProperties(was) && isProperties(is)) {
    return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((key) => {
      const child = childOf(schema, key);
      const side = (value: Value | undefined) => (child ? normal(child, value) : value);
      return compare(child && propertyOf(child).inner, side(was[key]), side(is[key]), [...path, key]);
    });
  }
  if (Array.isArray(was) && Array.isArray(is)) return sameList(was, is, unordered) ? [] : [{ path, kind: "update" }];
  return was === is ? [] : [{ path, kind: "update" }];
}

function sameList(was: Value[], is: Value[], unordered: boolean): boolean {
  if (was.length !== is.length || is.some(hasUnknown)) return false;
  const [a, b] = unordered ? [inOrder(was), inOrder(is)] : [was, is];
  return a.every((value, index) => compare(undefined, value, b[index], []).length === 0);
}

const inOrder = (list: Value[]): Value[] => [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** The canonical form of a value; undefined if absent. */
function normal(schema: z.core.$ZodType, given: Value | undefined, implied?: Value): Value | undefined {
  const { inner, optional, fallback } = propertyOf(schema);
  const value = present(inner, given);
  if (value === undefined) return fallback;
  if (!optional || fallback !== undefined) return value;
  if (value === implied) return undefined;
  const empty = inner instanceof z.ZodString ? value === "" : inner instanceof z.ZodArray && isEmptyList(value);
  return empty ? undefined : value;
}

const isEmptyList = (value: Value): boolean => Array.isArray(value) && value.length === 0;
