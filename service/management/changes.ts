/**
 * An object with changes made to it: what is undefined stays as it was, what is null is cleared.
 * The outcome is still to be checked by its shape, which puts defaults where something was cleared.
 */
export function withChanges(current: object, changes: object): Record<string, unknown> {
  const said = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...current, ...Object.fromEntries(said.map(([field, value]) => [field, value ?? undefined])) };
}
