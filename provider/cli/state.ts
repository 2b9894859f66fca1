import { z } from "zod";
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

const properties = z.record(z.string(), z.unknown());

const resourceShape = z.looseObject({
  urn: z.string(),
  type: z.string(),
  custom: z.boolean().optional(),
  id: z.string().optional(),
  provider: z.string().optional(),
  parent: z.string().optional(),
  dependencies: z.array(z.string()).nullish(),
  inputs: properties.optional(),
  outputs: properties.optional(),
  propertyDependencies: properties.nullish(),
  /** True for a replaced object that is still to be deleted. */
  delete: z.boolean().optional(),
  /** True for a deleted object whose replacement is still to be created. */
  pendingReplacement: z.boolean().optional(),
});
/** A resource in a stack's state. */
export type StateResource = z.output<typeof resourceShape>;

const operationShape = z.looseObject({ type: z.string(), resource: resourceShape });
/** An operation that was under way when the engine stopped. */
export type PendingOperation = z.output<typeof operationShape>;

const exportShape = z.looseObject({
  deployment: z.looseObject({
    resources: z.array(resourceShape).nullish(),
    pending_operations: z.array(operationShape).nullish(),
  }),
});
/** The output of `pulumi stack export`. */
export type ExportedState = z.output<typeof exportShape>;

/** Reads the output of `pulumi stack export`. Throws an Error with a message for users if it is not one. */
export function parseState(text: string): ExportedState {
  try {
    return exportShape.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error("the input is not a stack's state; pass the output of `pulumi stack export`", { cause });
  }
}

/** A state as `pulumi stack import` reads it. */
export const stateText = (state: ExportedState): string => `${JSON.stringify(state, null, 4)}\n`;

/** The reference by which resources name their provider. */
export const referenceTo = ({ urn, id = "" }: StateResource): string => `${urn}::${id}`;
