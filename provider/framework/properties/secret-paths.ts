import {
  isEmpty,
  isProperties,
  type Path,
  type Properties,
  type PropertyMap,
  Unknown,
  type Value,
  valueAt,
} from "../../engine/values";
import type { ResourceOperations, Secrets } from "../contract";
import { withoutOmitted } from "./defaults";

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

/** Paths of variables and other values of the service that no program sets, and that may repeat secrets. */
const foreignSecrets = (
  { options }: ResourceOperations,
  properties: Properties,
  programs: readonly Properties[],
): Path[] =>
  Object.entries(options).flatMap(([key, { foreignSecret }]): Path[] => {
    const value = properties[key];
    if (!foreignSecret || value === undefined || isEmpty(value)) return [];
    const known = programs.flatMap((program) => program[key] ?? []);
    if (!isProperties(value)) return known.length > 0 ? [] : [[key]];
    const isKnown = (name: string): boolean => known.some((map) => isProperties(map) && Object.hasOwn(map, name));
    return Object.keys(value).flatMap((name) => (isKnown(name) ? [] : [[key, name]]));
  });

/**
 * Paths to be marked secret in a state: secret by shape, already secret, repetitions of them, or values of the service that no program sets.
 * `programs` are inputs or states with their lists of omitted properties.
 */
export const secretState = (
  operations: ResourceOperations,
  secretPaths: readonly Path[],
  properties: Properties,
  programs: readonly Properties[],
): Path[] => [
  ...secretPathsOfShape(operations),
  ...secretPaths,
  ...(operations.derivedSecrets?.(secretPaths) ?? []),
  ...foreignSecrets(operations, properties, programs.map(withoutOmitted)),
];

/** Paths to be marked secret in the outputs of a program's inputs: also outputs that are computed of secret inputs. */
export function secretOutputs(
  operations: ResourceOperations,
  secretInputs: readonly Path[],
  outputs: Properties = {},
  programs: readonly Properties[] = [outputs],
): Path[] {
  const presentPaths = secretPathsOfShape(operations).filter((path) => (valueAt(outputs, path) ?? null) !== null);
  const secretKeys = new Set([...presentPaths, ...secretInputs].map(([top]) => top));
  const computedPaths = Object.entries(operations.options).flatMap(([key, { secretWith }]) =>
    secretWith?.some((input) => secretKeys.has(input)) ? [[key]] : [],
  );
  return [...secretState(operations, secretInputs, outputs, programs), ...computedPaths];
}

/** Returns true if the state contains a value as plain text that the program has made secret since. */
export const hasPlaintextSecrets = (olds: PropertyMap, secretInputs: readonly Path[]): boolean =>
  secretInputs.some((path) => {
    const value = valueAt(olds.properties, path) ?? null;
    return value !== null && !isSecretAt(path, olds.secretPaths);
  });
