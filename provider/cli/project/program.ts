import { isDeepStrictEqual } from "node:util";
import { optionsOf, secretReference } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { isProperties, type Value } from "../../engine/values";
import { canonicalName } from "../../framework/names";
import type { ImportedObject } from "../../framework/object";
import { propertyOf } from "../../framework/properties/schema";
import { type ObjectKind, objectKindNames, objectKinds } from "../../resources";
import { compare } from "../pulumi-preview/changes";
import { camelCase, resourceNames } from "./identifiers";

/** An object of the account with its kind. */
export interface AccountObject extends ImportedObject {
  kind: ObjectKind;
  /** Source of the resource's name; defaults to the name of the object. */
  resource?: string;
}

/** A value in a program: constant, or composed of outputs and config. */
export type Expression =
  | { type: "constant"; value: string | number | boolean | null }
  | { type: "list"; items: Expression[] }
  | { type: "map"; entries: [key: string, value: Expression][] }
  /** An output of an earlier resource. */
  | { type: "output"; resource: string; output: "id" | "reference" }
  /** A required secret of the stack's config. */
  | { type: "config"; key: string };

/** A resource of a program, without the language. */
export interface ProgramResource {
  kind: ObjectKind;
  /** Id of its object. */
  id: string;
  /** Its name in the program and in the state. */
  name: string;
  inputs: [key: string, value: Expression][];
  /** Inputs whose changes are ignored, because the state of an imported object lacks them. */
  ignoreChanges: string[];
}

/** Resources in an order in which each refers to earlier ones only. */
export interface Program {
  resources: ProgramResource[];
  /** Keys of the stack's config that must be set as secrets. */
  config: string[];
}

/** A program with these objects as resources. */
export function programOf(objects: readonly AccountObject[]): Program {
  const sortedObjects = objects.toSorted(
    (a, b) =>
      objectKindNames.indexOf(a.kind) - objectKindNames.indexOf(b.kind) ||
      compare(a.name, b.name) ||
      compare(a.id, b.id),
  );
  const nameFor = resourceNames();
  const namedObjects = sortedObjects.map((object) => ({
    object,
    name: nameFor(object.kind, object.resource ?? canonicalName(objectKinds[object.kind], object.name)),
  }));
  /** Outputs of the resources by their value; those of a kind become known after its last resource, so there are no cycles. */
  const outputs = new Map<string, Expression>();
  const resources: ProgramResource[] = [];
  for (const kind of objectKindNames) {
    const objectsOfKind = namedObjects.filter(({ object }) => object.kind === kind);
    resources.push(...objectsOfKind.map(({ object, name }) => resourceOf(object, name, outputs)));
    for (const { object, name } of objectsOfKind) {
      outputs.set(object.id, { type: "output", resource: name, output: "id" });
      if (object.kind === "Secret")
        outputs.set(secretReference(object.name), { type: "output", resource: name, output: "reference" });
    }
  }
  const config = resources.flatMap(({ inputs }) =>
    inputs.flatMap(([, value]) => (value.type === "config" ? value.key : [])),
  );
  return { resources, config };
}

function resourceOf(
  { kind, id, inputs }: AccountObject,
  name: string,
  outputs: ReadonlyMap<string, Expression>,
): ProgramResource {
  const shape = Object.entries(objectKinds[kind].inputs.shape);
  const unreadable = shape.flatMap(([key, schema]) =>
    optionsOf(schema).writeOnly && !propertyOf(schema).optional && inputs[key] === undefined ? [key] : [],
  );
  const entries = shape.flatMap(([key, schema]): ProgramResource["inputs"] => {
    if (unreadable.includes(key)) return [[key, { type: "config", key: camelCase(`${name}-${key}`) }]];
    const value = inputs[key];
    return value === undefined || isDefault(schema, value) ? [] : [[key, expressionOf(value, outputs)]];
  });
  return { kind, id, name, inputs: entries, ignoreChanges: unreadable };
}

/** Returns true if a program that leaves the property out means the same. */
const isDefault = (schema: z.core.$ZodType, value: Value): boolean =>
  isDeepStrictEqual(value, propertyOf(schema).defaultValue);

function expressionOf(value: Value, outputs: ReadonlyMap<string, Expression>): Expression {
  if (Array.isArray(value)) return { type: "list", items: value.map((item) => expressionOf(item, outputs)) };
  if (isProperties(value))
    return { type: "map", entries: Object.entries(value).map(([key, item]) => [key, expressionOf(item, outputs)]) };
  if (typeof value === "object" && value !== null) throw new Error("an imported object contains an unknown value");
  return (typeof value === "string" ? outputs.get(value) : undefined) ?? { type: "constant", value };
}
