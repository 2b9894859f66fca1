import type { Lifecycle, Path } from "../lifecycle/contract";

/** Paths that are secret by their shape. */
export const secretPathsOfShape = ({ traits }: Lifecycle): Path[] =>
  Object.entries(traits).flatMap(([key, { secret }]) => (secret ? [[key]] : []));

/** Paths to be marked secret in outputs: secret by shape, by the user, or derived from an input that the user made secret. */
export function secretOutputs(lifecycle: Lifecycle, secretInputs: readonly Path[]): Path[] {
  const secretKeys = new Set(secretInputs.map(([top]) => top));
  const derivedPaths = Object.entries(lifecycle.traits).flatMap(([key, { secretWith }]) =>
    secretWith?.some((input) => secretKeys.has(input)) ? [[key]] : [],
  );
  return [...secretPathsOfShape(lifecycle), ...secretInputs, ...derivedPaths];
}
