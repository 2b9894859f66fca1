import type { PropertyMap } from "../engine/values";

/** An unfinished object: the engine keeps it in state, and the next deployment updates it. */
interface Unfinished {
  id: string;
  outputs: PropertyMap;
  inputs: PropertyMap;
}

/** A failed operation; the message contains no secrets. */
export class ResourceFailure extends Error {
  override readonly name = "ResourceFailure";
  constructor(
    message: string,
    readonly unfinished?: Unfinished,
  ) {
    super(message);
  }
}
