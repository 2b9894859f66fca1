/** A JSON value, or `unknown` for a value that a preview cannot compute yet. */
export type Value = null | boolean | number | string | Unknown | Value[] | { [key: string]: Value };
export type Properties = { [key: string]: Value };

/** A value that is known only after the deployment of something else. The dynamic provider and the plugin convert their own forms to it. */
export class Unknown {
  static readonly value = new Unknown();
  /** Makes the type nominal; otherwise every object would match it. */
  protected readonly unknown = true;
  private constructor() {}
}

/** A place in properties: keys and list indices. */
export type Path = readonly string[];

/** Properties of one resource, and the places in them that are secret. */
export interface PropertyMap {
  properties: Properties;
  secretPaths: readonly Path[];
}

/** Returns true if a value is an object, but not an array or null. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns true if a value is an object of properties: no list, no Unknown. */
export const isProperties = (value: Value | undefined): value is Properties =>
  isRecord(value) && !(value instanceof Unknown);

/** Returns true if a value is or contains an unknown value. */
export function hasUnknown(value: Value | undefined): boolean {
  if (value instanceof Unknown) return true;
  if (Array.isArray(value)) return value.some(hasUnknown);
  return isProperties(value) && Object.values(value).some(hasUnknown);
}

/** Returns true for an empty text, list or object, and for null. */
export const isEmpty = (value: Value | undefined): boolean =>
  value === "" || (typeof value === "object" && !(value instanceof Unknown) && Object.keys(value ?? {}).length === 0);

/** Returns the value at a path; a path below an unknown value is unknown. */
export function valueAt(value: Value | undefined, [key, ...rest]: Path): Value | undefined {
  if (key === undefined || value instanceof Unknown) return value;
  if (typeof value !== "object" || value === null) return undefined;
  return valueAt(Array.isArray(value) ? value[Number(key)] : value[key], rest);
}

/**
 * Converts any value to JSON: undefined properties and functions are omitted, an integer that a double cannot represent becomes text,
 * and unknown values stay unknown.
 */
export function toValue(value: unknown): Value | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string")
    return value;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value !== "object") return undefined;
  if (value instanceof Unknown) return value;
  if (value instanceof Date) return toValue(value.toJSON());
  if (value instanceof Set) return toValue([...value]);
  if (value instanceof Map) return toValue(Object.fromEntries(value));
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
export function stringAt(properties: Properties, key: string): string | undefined {
  const value = properties[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The texts in a list, or a single text; empty texts and other values are omitted. */
export const textsIn = (value: Value | undefined): string[] =>
  [value].flat().filter((text): text is string => typeof text === "string" && text !== "");

/** A path in Pulumi's property path syntax: `env.MODEL`, `env["a.b"]`, `gpuTypeIds[0]`. Only a number is an index of a list. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (/^[A-Za-z_$][\w$]*$/.test(part)) return index === 0 ? part : `.${part}`;
      return `[${JSON.stringify(part)}]`;
    })
    .join("");
}
