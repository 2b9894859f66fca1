import { type Path, type Properties, type PropertyMap, Unknown, type Value, valueAt } from "../../engine/values";
import type { ResourceOperations, Secrets } from "../contract";

/** Placeholder for a value that a message does not show. */
export const hiddenValue = "[secret]";

const startsWith = (path: Path, start: Path): boolean => start.every((step, index) => step === path[index]);

/** Returns true if the value at `path` is secret, or part of a secret value. */
export const isSecretAt = (path: Path, secrets: readonly Path[]): boolean =>
  secrets.some((secret) => startsWith(path, secret));

/** Returns true if a value is secret or contains a secret. */
export const containsSecret = (path: Path, secrets: readonly Path[]): boolean =>
  secrets.some((secret) => startsWith(path, secret) || startsWith(secret, path));

/** All values in a value that a message could repeat, except true, false and null. */
function leafTexts(value: Value | undefined): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(leafTexts);
  if (typeof value !== "object" || value === null || value instanceof Unknown) return [];
  return Object.values(value).flatMap(leafTexts);
}

/** Secrets that no message about these properties may show: the secret paths, and their values. */
export function secretsIn(properties: readonly Properties[], paths: readonly Path[]): Secrets {
  const values = properties.flatMap((object) => paths.flatMap((path) => leafTexts(valueAt(object, path))));
  return { paths, values: [...new Set(values)] };
}

/** Paths that are secret by their shape. */
export const secretPathsOfShape = ({ options }: ResourceOperations): Path[] =>
  Object.entries(options).flatMap(([key, { secret }]) => (secret ? [[key]] : []));

/**
 * Paths to be marked secret in outputs: secret by shape, by the user, derived from a secret input, or of settings that none of `known` has.
 */
export function secretOutputs(
  operations: ResourceOperations,
  secretInputs: readonly Path[],
  outputs: Properties = {},
  known: readonly Properties[] = [outputs],
): Path[] {
  const shapePaths = secretPathsOfShape(operations);
  const presentPaths = shapePaths.filter((path) => (valueAt(outputs, path) ?? null) !== null);
  const secretKeys = new Set([...presentPaths, ...secretInputs].map(([top]) => top));
  const derivedPaths = Object.entries(operations.options).flatMap(([key, { secretWith }]) =>
    secretWith?.some((input) => secretKeys.has(input)) ? [[key]] : [],
  );
  const repeatedPaths = operations.derivedSecrets?.(secretInputs, outputs, known) ?? [];
  return [...shapePaths, ...secretInputs, ...derivedPaths, ...repeatedPaths];
}

/** Returns true if the state contains a value as plain text that the program has made secret since. */
export const hasPlaintextSecrets = (olds: PropertyMap, secretInputs: readonly Path[]): boolean =>
  secretInputs.some((path) => {
    const value = valueAt(olds.properties, path) ?? null;
    return value !== null && !isSecretAt(path, olds.secretPaths);
  });
