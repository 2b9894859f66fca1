import type { Change, Lifecycle, Path, Properties } from "../lifecycle/contract";

/** Places of what is secret by its shape. */
export function secretByShape(lifecycle: Lifecycle): Path[] {
  return Object.entries(lifecycle.traits)
    .filter(([, { secret }]) => secret)
    .map(([key]) => [key]);
}

/** Places of what has to be marked secret in outputs: by its shape, by the user, or made of an input that the user did. */
export function secretOutputs(lifecycle: Lifecycle, secretInputs: readonly Path[]): Path[] {
  const secretTops = new Set(secretInputs.map(([top]) => top));
  const derived = Object.entries(lifecycle.traits)
    .filter(([, { secretWith }]) => secretWith?.some((input) => secretTops.has(input)))
    .map(([key]) => [key]);
  return [...secretByShape(lifecycle), ...secretInputs, ...derived];
}

/** Top-level properties that changes touch, each once. */
export function touched(changes: readonly Change[]): string[] {
  return [...new Set(changes.map(({ path }) => path[0] ?? ""))];
}

/**
 * What forces a replacement, and whether the old object has to go first because both would have the same unique name:
 * said whatever differs, for a resource option such as `replaceOnChanges` may make a replacement of any change.
 */
export function replacement(
  lifecycle: Lifecycle,
  changes: readonly Change[],
  olds: Properties,
  news: Properties,
): { replaces: string[]; deleteBeforeReplace: boolean } {
  const replaces = touched(changes.filter(({ replace }) => replace));
  const keepsName = Object.entries(lifecycle.traits).some(([key, { unique }]) => unique && olds[key] === news[key]);
  return { replaces, deleteBeforeReplace: keepsName };
}
