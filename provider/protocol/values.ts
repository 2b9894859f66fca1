import { type Properties, Unknown, type Value } from "../lifecycle/contract";

/** The engine's placeholder for an unknown value in a preview. */
const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const signature = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** Properties on their way to the engine: JSON, unknowns as the engine's text. */
export type Wire = Record<string, unknown>;

/** Returns true if a value is an object with properties of its own, not a list and not null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as the engine sent it, unknowns as Unknown and secret wrappers taken off. */
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

/** Sets an own property, whatever its name: keys are of a program's choice, and one could be that of an object's prototype. */
export function setOwn<Of>(target: Record<string, Of>, key: string, value: Of): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  else target[key] = value;
}

/** The same for a whole object; what is undefined is left out. */
export function propertiesFromWire(value: Record<string, unknown>): Properties {
  const properties: Properties = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined) setOwn(properties, key, fromWire(value[key]));
  }
  return properties;
}

/** A value as JSON has it; undefined where JSON has none. */
function plain(value: unknown): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value !== "object") return undefined;
  if (value instanceof Unknown) return unknownText;
  if (Array.isArray(value)) return value.map((one) => plain(one) ?? null);
  if (value instanceof Set) return plain([...value]);
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (value instanceof Date) return plain(value.toJSON());
  return isRecord(value) ? toWire(value) : undefined;
}

/**
 * Properties as JSON, the only values of the engine's protocol. An undefined or a BigInt in a response makes the engine fail
 * after the object exists, or hang, and a Date would arrive as an empty object.
 */
export function toWire(properties: object): Wire {
  const wire: Wire = {};
  for (const [key, value] of Object.entries(properties)) {
    const one = plain(value);
    if (one !== undefined) setOwn<unknown>(wire, key, one);
  }
  return wire;
}

/** Returns true if a value is one that the engine marked as secret. */
export const isSecret = (value: unknown): boolean => isRecord(value) && value[signature] === secretSignature;

/** Remainders of the paths that begin with `key`. */
const below = (paths: readonly (readonly string[])[], key: string): string[][] =>
  paths.filter(([first]) => first === key).map(([, ...rest]) => rest);

function sealedValue(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (value === undefined || paths.length === 0 || isSecret(value)) return value;
  // A list is sealed as a whole, because positions in it may change outside the program.
  if (Array.isArray(value) || paths.some((path) => path.length === 0)) return { [signature]: secretSignature, value };
  return isRecord(value) ? sealed(value, paths) : value;
}

/** Marks the values at `paths` as secret, so that the engine keeps them encrypted in state and hides them on screen. */
export function sealed(properties: Wire, paths: readonly (readonly string[])[]): Wire {
  if (paths.length === 0) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, sealedValue(value, below(paths, key))]),
  );
}
