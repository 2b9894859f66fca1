import { isRecord, type Properties, Unknown, type Value } from "./values";

/** The engine's placeholder for an unknown value in a preview. */
export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
/** Key of the objects that are not plain JSON: secrets, assets and archives. */
export const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** Properties in the engine's form: JSON, with a placeholder for unknown values. */
export type EngineProperties = Record<string, unknown>;

/** Converts a value sent by the engine: placeholders become Unknown, and secrets are unwrapped. */
function fromEngine(value: unknown): Value {
  if (value === unknownText) return Unknown.value;
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string") {
    return value;
  }
  if (Array.isArray(value)) return value.map(fromEngine);
  if (!isRecord(value)) return null;
  if (isSecret(value)) return fromEngine(value.value);
  return propertiesFromEngine(value);
}

/** Sets an own property of any name. Programs choose the keys, and `__proto__` would otherwise set the object's prototype. */
export function setOwn<Item>(target: Record<string, Item>, key: string, value: Item): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  else target[key] = value;
}

/** Converts an object sent by the engine, without its undefined properties. */
export function propertiesFromEngine(value: Record<string, unknown>): Properties {
  const properties: Properties = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined) setOwn(properties, key, fromEngine(value[key]));
  }
  return properties;
}

/** Returns a value in the engine's form: unknown values become the placeholder. */
function toEngineValue(value: Value): unknown {
  if (value instanceof Unknown) return unknownText;
  if (Array.isArray(value)) return value.map(toEngineValue);
  return typeof value === "object" && value !== null ? toEngine(value) : value;
}

/** Converts properties to the engine's form. */
export function toEngine(properties: Properties): EngineProperties {
  const converted: EngineProperties = {};
  for (const [key, value] of Object.entries(properties)) setOwn<unknown>(converted, key, toEngineValue(value));
  return converted;
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
export function markSecrets(properties: EngineProperties, paths: readonly (readonly string[])[]): EngineProperties {
  if (paths.length === 0) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, markSecretValue(value, subpathsOf(paths, key))]),
  );
}
