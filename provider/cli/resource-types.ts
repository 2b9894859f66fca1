import { type Kind, kinds } from "../resources";

/** First part of the type tokens of our resources: as dynamic resources of Node programs, and of the plugin. */
export const typePrefixes = { dynamic: "pulumi-nodejs:dynamic/serverless:", plugin: "serverless-compute:index:" };

const isKind = (name: string): name is Kind => Object.hasOwn(kinds, name);

/** The kind of a type token; undefined if the type is not ours. */
export function kindOf(type: string): Kind | undefined {
  const prefix = Object.values(typePrefixes).find((candidate) => type.startsWith(candidate));
  const name = prefix === undefined ? "" : type.slice(prefix.length);
  return isKind(name) ? name : undefined;
}
