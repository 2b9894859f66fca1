import { type Properties, Unknown, type Value } from "../lifecycle/contract";

/** The engine's placeholder for an unknown value in a preview. */
export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** Properties in the engine's form: JSON, with a placeholder for unknown values. */
export type Wire = Record<string, unknown>;

/** Returns true if a value is an object, but not an array or null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Converts a value sent by the engine: placeholders become Unknown, and secrets are unwrapped. */
export function fromWire(value: unknown): Value {
  if (value === unknownText) return Unknown.value;
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string") {
    return value;
  }
  if (Array.isArray(value)) return value.map(fromWire);
  if (!isRecord(value)) return null;
  if (isSecret(value)) return fromWire(value.value);
  return propertiesFromWire(value);
}

/** Sets an own property of any name. Programs choose the keys, and `__proto__` would otherwise set the object's prototype. */
export function setOwn<Item>(target: Record<string, Item>, key: string, value: Item): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  else target[key] = value;
}

/** Converts an object sent by the engine, without its undefined properties. */
export function propertiesFromWire(value: Record<string, unknown>): Properties {
  const properties: Properties = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined) setOwn(properties, key, fromWire(value[key]));
  }
  return properties;
}

/** Converts a value to JSON; undefined if JSON cannot represent it. */
function toJson(value: unknown): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value !== "object") return undefined;
  if (value instanceof Unknown) return unknownText;
  if (Array.isArray(value)) return value.map((item) => toJson(item) ?? null);
  if (value instanceof Set) return toJson([...value]);
  if (value instanceof Map) return toJson(Object.fromEntries(value));
  if (value instanceof Date) return toJson(value.toJSON());
  return isRecord(value) ? toWire(value) : undefined;
}

/**
 * Converts properties to JSON, the only values that the engine's protocol supports. An undefined or a BigInt in a response makes
 * the engine hang, or fail after the object was created. A Date would arrive as an empty object.
 */
export function toWire(properties: object): Wire {
  const wire: Wire = {};
  for (const [key, value] of Object.entries(properties)) {
    const converted = toJson(value);
    if (converted !== undefined) setOwn<unknown>(wire, key, converted);
  }
  return wire;
}

/** Returns true if the engine marked a value as secret. */
export const isSecret = (value: unknown): boolean => isRecord(value) && value[signatureKey] === secretSignature;

/** Remainders of the paths that begin with `key`. */
const subpathsOf = (paths: readonly (readonly string[])[], key: string): string[][] =>
  paths.filter(([first]) => first === key).map(([, ...rest]) => rest);

function markSecretValue(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (value === undefined || paths.length === 0 || isSecret(value)) return value;
  // A list is marked as a whole, because the positions of its items may change outside the program.
  if (Array.isArray(value) || paths.some((path) => path.length === 0))
    return { [signatureKey]: secretSignature, value };
  return isRecord(value) ? markSecrets(value, paths) : value;
}

/** Marks the values at `paths` as secret, so that the engine encrypts them in the state and hides them in its output. */
export function markSecrets(properties: Wire, paths: readonly (readonly string[])[]): Wire {
  if (paths.length === 0) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, markSecretValue(value, subpathsOf(paths, key))]),
  );
}
