import type { Path, Properties } from "./contract";

/** Properties of one resource, and the places in them that are secret. */
export interface PropertySet {
  properties: Properties;
  secretPaths: readonly Path[];
}

/** An unfinished object: the engine keeps it in state, and the next deployment updates it. */
interface Unfinished {
  id: string;
  outputs: PropertySet;
  inputs: PropertySet;
}

/** A failed verb; the message contains no secrets. */
export class ResourceFailure extends Error {
  override readonly name = "ResourceFailure";
  constructor(
    message: string,
    readonly unfinished?: Unfinished,
  ) {
    super(message);
  }
}

/** Formats a message as a reason of an unfinished object. The engine lists reasons as "\t* reason"; further lines are indented below it. */
export const asReason = (message: string): string => message.replaceAll("\n", "\n\t  ");

/** Message of any thrown value: an Error, a string, null. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && !thrown.message) return thrown.errors.map(messageOf).join("\n");
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === "string" && thrown !== "") return thrown;
  return "unknown error";
}
