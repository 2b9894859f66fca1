import { randomBytes } from "node:crypto";
import type { Naming } from "./contract";
import { hasSuffix, withSuffix } from "./names";

/** Parts of a resource's URN. */
interface UrnParts {
  stack: string;
  /** Type token of the resource itself, without those of its parents. */
  type: string;
  name: string;
}

/** Reads `urn:pulumi:<stack>::<project>::<types>::<name>`; a name may contain "::" too. */
export function parseUrn(urn: string): UrnParts {
  const [stack = "", , types = "", ...nameParts] = urn.replace(/^urn:pulumi:/, "").split("::");
  return { stack, type: types.slice(types.lastIndexOf("$") + 1), name: nameParts.join("::") };
}

/** Last part of a type token or of a function's token. */
export const shortType = (token: string): string => token.slice(token.lastIndexOf(":") + 1);

/** Returns true for the URN of a provider in the program; those of the engine are named `default` or, with a version, `default_3_248_0`. */
export function isExplicitProvider(urn: string): boolean {
  const { name } = parseUrn(urn);
  return name !== "" && !/^default(_|$)/.test(name);
}

/**
 * Auto-naming of a resource: `<resource>-<stack>-<random suffix>`. `seed` is the engine's random seed for the resource; an
 * update plan replays it.
 */
export function autoNaming(urn: string, seed: Uint8Array = randomBytes(32)): Naming {
  const { name, stack } = parseUrn(urn);
  return {
    defaultName: name && stack ? { name: withSuffix(`${name}-${stack}`, seed), isUnique: true } : undefined,
    seed,
  };
}

/** Returns true if an object's name may be the generated name of a resource, in this deployment or another one. */
export function isGeneratedName(objectName: string, urn: string): boolean {
  const { name, stack } = parseUrn(urn);
  return hasSuffix(objectName, `${name}-${stack}`);
}
