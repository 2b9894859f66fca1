import { z } from "zod";

/** A set of management operations, named after its REST version. */
export type Dialect = "v1" | "v2";

/** Semantics of a property beyond its type; read by the dialects, diffs, redaction and the schema generator. */
export interface PropertyOptions {
  /** The name in REST v2, if it differs; for a part of another value its path, such as `workers.min`. */
  v2?: string;
  /** A sensitive value: encrypted in state, never printed. */
  secret?: true;
  /** A value of the service is encrypted in state unless the program sets it, because it may repeat a secret of another object. */
  foreignSecret?: true;
  /** Never returned by the service, so an imported object has no value in state. */
  writeOnly?: true;
  /** Inputs of which an output is computed; the output is secret if one of them is. */
  secretWith?: readonly string[];
  /** A change replaces the object, in all dialects or in the given dialect. */
  replaceOnChanges?: true | Dialect;
  /** Removing the property from the program does not change the object. */
  computedWhenUnset?: true;
  /**
   * The service determines the value of a new object whose program omits the property. It determines the value again when the program
   * removes the property or changes one of these, of which there may be none. A preview does not know such a value.
   */
  reportedWhenUnset?: readonly string[];
  /** Property that, if set, determines the value of this one where the program omits it, so that the service does not. */
  determinedBy?: string;
  /** Property that expresses the same setting: if the program sets or changes it, the value of this one is unknown. */
  alternativeTo?: string;
  /** The only dialect that supports the property; the other dialect rejects it. */
  dialect?: Dialect;
  /** Optional in GraphQL services. Only the read before an update selects it; the update sends it back. */
  optionalInGraphql?: true;
  /** The service's default for an absent value. A program that sets it makes no change. */
  serviceDefault?: string | number | readonly string[];
  /** Returns the compared form of a text that has several equivalent forms. */
  canonical?: (text: string) => string;
  /** A number that can be increased in place but never decreased; the value is the remedy, as the end of a message. */
  growsOnly?: string;
  /** Unique in the account: a replacement with the same value must delete the old object first. */
  unique?: true;
  /** A list whose order is meaningless, in all dialects or in the given dialect. */
  unordered?: true | Dialect;
  /** Used only when the object is created; a later change does not change the object. */
  ignoredAfterCreate?: true;
  /** Controls only deployments; not stored by the service. */
  notSent?: true;
  /** If true in the inputs, a name of the program gets a random suffix, so that a replacement can be created first. */
  suffixesName?: true;
  /**
   * Catalog of the values; a preview warns about a new value that is not listed. `noun` describes a value, such as "GPU type";
   * `pools` are names of groups of values, which programs cannot use.
   */
  catalog?: { noun: string; ids: readonly string[]; pools?: Readonly<Record<string, readonly string[]>> };
  /** A map of environment variables; a preview warns about plain values that are likely to be credentials. */
  holdsVariables?: true;
  /** Defaults for values of another property, by value; for all other values, the default is that of the shape. */
  defaultBy?: { property: string; defaults: Readonly<Record<string, string>> };
  /** The warning that a preview shows for a change of the property in place. */
  warns?: string;
}

/** Registry of property options. Call `shape.register(propertyOptions, { replaceOnChanges: true })` last on a property's shape, before `optional` and `default`. */
export const propertyOptions = z.registry<PropertyOptions>();

const cache = new WeakMap<z.core.$ZodType, PropertyOptions>();

/** The options of a property, even if it is optional or has a default; empty without options. */
export function optionsOf(shape: z.core.$ZodType): PropertyOptions {
  const cached = cache.get(shape);
  if (cached) return cached;
  const inner = shape instanceof z.ZodOptional || shape instanceof z.ZodDefault ? optionsOf(shape.def.innerType) : {};
  // zod merges the options of all shapes from which this shape was derived, at every call.
  const ownOptions = { ...inner, ...propertyOptions.get(shape) };
  cache.set(shape, ownOptions);
  return ownOptions;
}
