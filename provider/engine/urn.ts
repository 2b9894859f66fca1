/** The parts of a resource's URN that providers need. */
export interface UrnParts {
  stack: string;
  /** Type token of the resource itself, without those of its parents. */
  type: string;
  name: string;
}

/** Reads `urn:pulumi:<stack>::<project>::<types>::<name>`; a name may hold "::" too. */
export function readUrn(urn: string): UrnParts {
  const [stack = "", , types = "", ...nameParts] = urn.replace(/^urn:pulumi:/, "").split("::");
  return { stack, type: types.slice(types.lastIndexOf("$") + 1), name: nameParts.join("::") };
}

/** Name that a resource gets when the user gave none: the same at every run. */
export function defaultName({ name, stack }: UrnParts): string | undefined {
  return name && stack ? `${name}-${stack}` : undefined;
}
