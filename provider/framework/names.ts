import { limits } from "serverless-compute-api/shapes";
import { type Properties, stringAt } from "../engine/values";
import type { NameSource, Naming } from "./contract";

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

/** Reason why a resource with a generated name cannot adopt an object. */
export const generatedNameCannotAdopt =
  "is true; requires an explicit name, because no existing object has a generated name";

/** Determines the source of the name. Appends a random suffix to the program's name in `inputs` if the kind requires one. */
export function resolveName(
  inputs: Properties,
  olds: Properties,
  news: Properties,
  { defaultName, seed }: Naming,
  appendsSuffix: boolean,
): NameSource {
  const programName = news["name"] ?? undefined;
  if (inputs["name"] === undefined) return "program";
  if (programName === undefined) return defaultName?.isUnique ? "random" : "autonaming";
  if (!appendsSuffix || typeof programName !== "string") return "program";
  const oldName = stringAt(olds, "name");
  // With the option ignoreChanges, the engine copies the name in the state, which has a suffix.
  const keepsName = oldName !== undefined && (oldName === programName || hasSuffix(oldName, programName));
  inputs["name"] = keepsName ? oldName : withSuffix(programName, seed);
  return "random";
}
