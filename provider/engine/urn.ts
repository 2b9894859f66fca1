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
  return `${readablePart({ name, stack })}-${fingerprint}`;
}

/** The part of a default name before its last hyphen, cut to the service's limit. */
function readablePart({ name, stack }: Pick<UrnParts, "name" | "stack">): string {
  const readable = `${name}-${stack}`.slice(0, limits.nameLength - fingerprintLength - 1);
  // Half of a character of two units is not text.
  return readable.replace(/[\uD800-\uDBFF]$/, "");
}

/** Whether the resource of a URN may have got this name by default, in this deployment or another one. */
export function isDefaultName(objectName: string, urn: string): boolean {
  const prefix = `${readablePart(readUrn(urn))}-`;
  return objectName.startsWith(prefix) && /^[0-9a-f]{7}$/.test(objectName.slice(prefix.length));
}
