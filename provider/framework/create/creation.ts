import type { CallOptions } from "serverless-compute-api";
import type { z } from "zod";
import type { Properties } from "../../engine/values";
import type { DiffRules } from "../properties/diff";
import type { Adoption } from "./adoption";

/** An update: the deployed properties, the new inputs, and which properties differ. */
export interface Update<Inputs> {
  olds: { [key: string]: unknown };
  news: Inputs;
  changed(key: string): boolean;
  /** Values of the object that the program omits and the update does not change. */
  kept?: Properties;
}

/** A new or adopted object. */
export interface Created<Outputs> {
  id: string;
  outputs: Outputs;
}

/** The settings that an update changes. */
export function changedSettings<Settings extends object>(settings: Settings, changed: Update<unknown>["changed"]) {
  const changes: Partial<Settings> = { ...settings };
  for (const key in changes) if (!changed(key)) delete changes[key];
  return changes;
}

/** An object to create, and the calls that find it again after a lost response or adopt an existing one. */
export interface Creation<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject> {
  kind: string;
  inputs: Inputs;
  shape: z.ZodObject;
  rules?: DiffRules;
  send(options: CallOptions): Promise<ApiObject>;
  list(options: CallOptions): Promise<ApiObject[]>;
  /** Lists the objects with the inputs' name; the list may contain other objects. */
  listNamed(options: CallOptions): Promise<ApiObject[]>;
  /** The inputs that the service shows of an object. */
  inputsOf(object: ApiObject): object;
  outputsOf(object: ApiObject): Outputs;
  /** Reads the parts of an existing object that a list does not show. */
  complete?(object: ApiObject): Promise<ApiObject>;
  /** Plans the adoption of an existing object. */
  plan(object: ApiObject): Adoption;
  /** Converts the inputs of an adoption. */
  parse(inputs: Properties): Inputs;
  /** Updates an adopted object to the inputs; the outputs contain the values that it keeps. */
  updateAdopted(id: string, update: Update<Inputs>, kept: Properties): Promise<Outputs>;
  /** Deletes a duplicate; present for kinds whose names are not unique. */
  remove?(id: string, options: CallOptions): Promise<void>;
}

/** The part of an object that creates read. */
export interface NamedObject {
  id: string;
  name: string;
  createdAt?: string | undefined;
}

/** Ids of objects, for messages. */
export const idList = (objects: readonly NamedObject[]): string => objects.map(({ id }) => id).join(", ");

/** The inputs that every creation reads. */
export interface NamedInputs {
  name: string;
  adoptExisting?: boolean | undefined;
}
