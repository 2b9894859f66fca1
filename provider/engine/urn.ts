import { createHash } from "node:crypto";
import { limits } from "serverless-compute-api/shapes";

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

/** Hexadecimal digits of a fingerprint: two resources that read alike share one in 270 million cases. */
const fingerprintLength = 7;

/**
 * Name that a resource gets when the user gave none: `<resource>-<stack>-<fingerprint>`, the same in every preview and
 * run. The fingerprint is that of the URN exactly as the engine has it, so with stack, project, types of all parents and
 * name: no other resource gets the same name, whoever deploys it. Where it would be too long for the service, the
 * readable part is cut. Interrupted creates are found by it: never change how it is made.
 */
export function defaultName(urn: string): string | undefined {
  const { name, stack } = readUrn(urn);
  if (!name || !stack) return undefined;
  const fingerprint = createHash("sha256").update(urn).digest("hex").slice(0, fingerprintLength);
  const readable = `${name}-${stack}`.slice(0, limits.nameLength - fingerprintLength - 1);
  // Half of a character that takes two units would be no text any more.
  return `${readable.replace(/[\uD800-\uDBFF]$/, "")}-${fingerprint}`;
}
