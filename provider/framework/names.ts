import { limits, optionsOf, type PropertyOptions } from "serverless-compute-api/shapes";
import { type Properties, stringAt, type Value } from "../engine/values";
import type { NameSource, Naming } from "./contract";
import type { ResourceSchemas } from "./definition";
import { nameSourceOf } from "./properties/defaults";

/** Hexadecimal digits of a random suffix, as in other Pulumi providers. */
const suffixLength = 7;

/** The readable part of a name, truncated to leave room for a suffix; never ends in a lone surrogate. */
const truncate = (baseName: string): string =>
  baseName.slice(0, limits.nameLength - suffixLength - 1).replace(/[\uD800-\uDBFF]$/, "");

/** A readable name with a random suffix of `seed`, no longer than the service allows. */
export const withSuffix = (baseName: string, seed: Uint8Array): string =>
  `${truncate(baseName)}-${Buffer.from(seed).toString("hex").slice(0, suffixLength)}`;

/** Returns true if `name` is `baseName` with a suffix. */
export const hasSuffix = (name: string, baseName: string): boolean =>
  /-[0-9a-f]{7}$/.test(name) && name.slice(0, name.lastIndexOf("-")) === truncate(baseName);

/** The compared form of a name; a service may change names of a kind to an equivalent form. */
export function canonicalName({ inputs }: Pick<ResourceSchemas, "inputs">, name: string): string {
  const schema = inputs.shape["name"];
  return (schema && optionsOf(schema).canonical?.(name)) ?? name;
}

/** Returns true if an object of a kind has a name, or an equivalent form of it. */
export const hasName = (schemas: Pick<ResourceSchemas, "inputs">, object: { name: string }, name: string): boolean =>
  canonicalName(schemas, object.name) === canonicalName(schemas, name);

/** Returns true if a replacement gets the name of the object that it replaces, and names are unique. */
export const keepsUniqueName = (
  options: Readonly<Record<string, PropertyOptions>>,
  { olds, news }: { olds: Properties; news: Properties },
): boolean =>
  nameSourceOf(news) === "program" &&
  Object.entries(options).some(([key, { unique }]) => unique && olds[key] === news[key]);

/** Reason why a resource with a generated name cannot adopt an object. */
export const generatedNameCannotAdopt =
  "is true; requires an explicit name, because no existing object has a generated name";

/**
 * Determines the source of the name in inputs; `programName` is the one that the program sets. Appends a random suffix to a name of the
 * program if the kind requires one.
 */
export function resolveName(
  name: Value | undefined,
  programName: Value | undefined,
  olds: Properties,
  naming: Naming | undefined,
  appendsSuffix: boolean,
): { name: Value | undefined; source: NameSource } {
  if (name === undefined) return { name, source: "program" };
  if (programName === undefined) return { name, source: naming?.defaultName?.isUnique ? "random" : "autonaming" };
  if (!naming || !appendsSuffix || typeof programName !== "string") return { name, source: "program" };
  const oldName = stringAt(olds, "name");
  // With the option ignoreChanges, the engine copies the name in the state, which has a suffix.
  const keepsName = oldName !== undefined && (oldName === programName || hasSuffix(oldName, programName));
  return { name: keepsName ? oldName : withSuffix(programName, naming.seed), source: "random" };
}
