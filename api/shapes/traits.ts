import { z } from "zod";

/** REST and GraphQL operations by the version of their REST part. */
export type Dialect = "v1" | "v2";

/** Semantics of a property beyond its type; read by the dialects, diffs, redaction and the schema generator. */
export interface Traits {
  /** Its name in REST v2, if it has another one there. */
  v2?: string;
  /** Holds a sensitive value: ciphertext in state, never printed. */
  secret?: true;
  /** The service never returns it, so an imported object has no value in state. */
  writeOnly?: true;
  /** An output made of these inputs: secret as soon as one of them is. */
  secretWith?: readonly string[];
  /** A change cannot be made in place, in any dialect or in the one that is named: the object is replaced. */
  replaces?: true | Dialect;
  /** Removing it from the program leaves the object as it is. */
  keptWhenRemoved?: true;
  /** The only dialect that has a place for it: with the other one it is refused. */
  dialect?: Dialect;
  /** A GraphQL service may lack it: only an update's read selects it, because saveTemplate resets absent fields. */
  optionalInGraphql?: true;
  /** A number that can be raised in place and never lowered; what to do instead, as the end of a message. */
  growsOnly?: string;
  /** No two objects of the account may share it: a replacement that keeps it has to wait until the old one is deleted. */
  unique?: true;
  /** A list whose order means nothing. */
  unordered?: true;
  /** Matters when the object is made, and never afterwards: a change of it does not change the object. */
  onlyAtCreation?: true;
  /** Controls deployments only: the service does not store it. */
  stateOnly?: true;
  /** Catalog of its values: a preview warns about a new value that is not listed. `noun` names one, for example "GPU type". */
  catalog?: { noun: string; ids: readonly string[] };
  /** Why a change of this property deserves a warning in a preview. */
  warns?: string;
}

/** Registry of traits: `shape.register(traits, { replaces: true })`, as the last call on a property's shape before `optional` and `default`. */
export const traits = z.registry<Traits>();

const found = new WeakMap<z.core.$ZodType, Traits>();

/** The traits of a property's shape, also of one that is optional or has a default; empty if it has none. */
export function traitsOf(shape: z.core.$ZodType): Traits {
  const known = found.get(shape);
  if (known) return known;
  const inner = shape instanceof z.ZodOptional || shape instanceof z.ZodDefault ? traitsOf(shape.def.innerType) : {};
  // zod merges those of all shapes that this one was made from, at every call.
  const own = { ...inner, ...traits.get(shape) };
  found.set(shape, own);
  return own;
}
