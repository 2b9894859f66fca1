import { type Path, type Properties, Unknown, type Value } from "../contract";

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Returns true if a value is an object of properties: no list, no Unknown. */
export const isProperties = (value: Value | undefined): value is Properties =>
  isObject(value) && !Array.isArray(value) && !(value instanceof Unknown);

/** Returns true if a value is or contains an unknown value. */
export function hasUnknown(value: Value | undefined): boolean {
  if (value instanceof Unknown) return true;
  if (Array.isArray(value)) return value.some(hasUnknown);
  return isProperties(value) && Object.values(value).some(hasUnknown);
}

/** Returns the value at a path; a path below an unknown value is unknown. */
export function valueAt(value: Value | undefined, [key, ...rest]: Path): Value | undefined {
  if (key === undefined || value instanceof Unknown) return value;
  if (typeof value !== "object" || value === null) return undefined;
  return valueAt(Array.isArray(value) ? value[Number(key)] : value[key], rest);
}

/** Converts any value to JSON: undefined properties are omitted, unsupported values become text. */
export function toValue(value: unknown): Value | undefined {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return undefined;
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Unknown) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => toValue(item) ?? null);
  return toProperties(value);
}

/** An object as properties; keys without a value are left out. */
export function toProperties(object: object): Properties {
  const entries = Object.entries(object).flatMap(([key, value]): [string, Value][] => {
    const converted = toValue(value);
    return converted === undefined ? [] : [[key, converted]];
  });
  // Defines each key, including `__proto__`, which an assignment would ignore.
  return Object.fromEntries(entries);
}

/** A text property; undefined for any other value. */
export function textOf(properties: Properties, key: string): string | undefined {
  const value = properties[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The texts in a list, or a single text; empty texts and other values are omitted. */
export const textsIn = (value: Value | undefined): string[] =>
  [value].flat().filter((text): text is string => typeof text === "string" && text !== "");
