import type { CallOptions } from "serverless-compute-api";
import type { z } from "zod";
import { sharedCallOptions } from "../calls";
import type { Context } from "../contract";
import { listAll } from "../listing";
import type { DiffRules } from "../properties/diff";
import type { ExistingObject, Ledger } from "./ledger";

/** What an update gets: what was deployed, what is wanted, and which properties differ. */
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

/** One object to be made, and what is needed to find it again or to take over one that is there. */
export interface Creation<Inputs extends Named, Outputs extends object, Found extends Findable> {
  kind: string;
  inputs: Inputs;
  shape: z.ZodObject;
  rules?: DiffRules;
  send(options: CallOptions): Promise<Found>;
  list(options: CallOptions): Promise<Found[]>;
  /** Lists the objects with the inputs' name; the list may contain other objects. */
  listNamed(options: CallOptions): Promise<Found[]>;
  /** The inputs as the service shows them of an object; what it does not show is left out. */
  actual(found: Found): object;
  outputs(made: Found): Outputs;
  /** What takes more than a list to know of an object that is there already. */
  complete?(found: Found): Promise<Found>;
  /** Changes an object that was taken over to the inputs. */
  change(id: string, update: Update<Inputs>): Promise<Outputs>;
  /** Whether only the resource with this default name gives an object the name; by default it has to be that one. */
  isOwnName?(defaultName: string | undefined): boolean;
  /** Whether one that was replaced, and that the state still has, may be taken back into use. */
  returns?: boolean;
  /** When what an interrupted create left is taken over without a question; absent where data or credentials are at stake. */
  leftover?: Leftover<Found>;
  /** Deletes a duplicate; for kinds whose names are not unique. */
  remove?(id: string, options: CallOptions): Promise<void>;
}

/** Objects of a kind that lose nothing when they are taken over by mistake, as long as nobody knows them. */
export interface Leftover<Found> {
  /** Whether it must have been made in the last minutes, by the service's own clock; else it is worth nothing at any age. */
  onlyRecent: boolean;
  /** Whether nothing uses it: so it is with one whose id nobody learned. */
  unused(found: Found, options: CallOptions): Promise<boolean>;
}

/** What every kind of object has, as far as creations look at it. */
export interface Findable extends ExistingObject {
  createdAt?: string | undefined;
}

/** Objects as messages name them. */
export const listed = (found: readonly Findable[]): string => found.map(({ id }) => id).join(", ");

/** The inputs that every creation reads. */
export interface Named {
  name: string;
  adoptExisting?: boolean | undefined;
}

/** Whether nobody else's object has the name: a default one carries the fingerprint of the resource's URN. */
export function hasOwnName<Inputs extends Named, Outputs extends object, Found extends Findable>(
  { inputs, isOwnName }: Creation<Inputs, Outputs, Found>,
  { defaultName }: Context,
): boolean {
  return isOwnName?.(defaultName) ?? inputs.name === defaultName;
}

/** The objects of a kind that were there before this process made its first one: one list call per kind and process. */
export function existingBefore<Inputs extends Named, Outputs extends object, Found extends Findable>(
  { kind, list }: Creation<Inputs, Outputs, Found>,
  ledger: Ledger,
  context: Context,
): Promise<ExistingObject[]> {
  const known = ledger.before.get(kind);
  if (known) return known;
  // What cannot be read was there too, and is nobody's to take over.
  const found = listAll(list, sharedCallOptions(context)).then(({ found: all, unreadable }) => [
    ...all.map(({ id, name }) => ({ id, name })),
    ...unreadable.flatMap(({ id }) => (id === undefined ? [] : [{ id, name: "" }])),
  ]);
  ledger.before.set(kind, found);
  // A list that failed fails the creates that waited for it, and the next one asks again.
  found.catch(() => ledger.before.delete(kind));
  return found;
}
