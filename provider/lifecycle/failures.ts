import type { Path, Properties } from "./contract";

/** Properties of one resource, and the places in them that are secret. */
export interface PropertySet {
  properties: Properties;
  secretPaths: readonly Path[];
}

/** Something exists and is not finished: the engine keeps it in state, and the next deployment updates it. */
interface Unfinished {
  id: string;
  outputs: PropertySet;
  inputs: PropertySet;
}

/** A failed verb as the engine may show it: a sentence with its secrets taken out. */
export class ResourceFailure extends Error {
  override readonly name = "ResourceFailure";
  constructor(
    message: string,
    readonly unfinished?: Unfinished,
  ) {
    super(message);
  }
}

/** A message as a reason why something is unfinished: the engine lists reasons as "\t* reason", and further lines stand below the first. */
export const asReason = (message: string): string => message.replaceAll("\n", "\n\t  ");

/** Text of whatever was thrown: an Error, a string, null. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && !thrown.message) return thrown.errors.map(messageOf).join("\n");
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === "string" && thrown !== "") return thrown;
  return "unknown error";
}
