import type { CallOptions } from "serverless-compute-api";
import type { z } from "zod";
import type { DiffRules } from "../properties/diff";

/** An update: the deployed properties, the new inputs, and which properties differ. */
export interface Update<Inputs> {
  olds: { [key: string]: unknown };
  news: Inputs;
  changed(key: string): boolean;
}

/** The settings that an update changes. */
export function changesIn<Settings extends object>(settings: Settings, changed: Update<unknown>["changed"]) {
  const changes: Partial<Settings> = { ...settings };
  for (const key in changes) if (!changed(key)) delete changes[key];
  return changes;
}

/** An object to create, and the calls that find it again after a lost response or adopt an existing one. */
export interface Creation<Inputs extends Named, Outputs extends object, Found extends Findable> {
  kind: string;
  inputs: Inputs;
  shape: z.ZodObject;
  rules?: DiffRules;
  send(options: CallOptions): Promise<Found>;
  list(options: CallOptions): Promise<Found[]>;
  /** Lists the objects with the inputs' name; the list may contain other objects. */
  listNamed(options: CallOptions): Promise<Found[]>;
  /** The inputs that the service shows of an object. */
  actual(found: Found): object;
  outputs(made: Found): Outputs;
  /** Reads the parts of an existing object that a list does not show. */
  complete?(found: Found): Promise<Found>;
  /** Updates an adopted object to the inputs. */
  change(id: string, update: Update<Inputs>): Promise<Outputs>;
  /** Deletes a duplicate; present for kinds whose names are not unique. */
  remove?(id: string, options: CallOptions): Promise<void>;
}

/** The part of an object that creates read. */
export interface Findable {
  id: string;
  name: string;
  createdAt?: string | undefined;
}

/** Ids of objects, for messages. */
export const listed = (found: readonly Findable[]): string => found.map(({ id }) => id).join(", ");

/** The inputs that every creation reads. */
export interface Named {
  name: string;
  adoptExisting?: boolean | undefined;
}
