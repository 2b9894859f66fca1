import type { CallOptions, Dialect, ManagementClient } from "serverless-compute-api";
import type { z } from "zod";
import type { Properties } from "../engine/values";
import type { Change, Context, Failure, PlannedChange } from "./contract";

/** The schemas of a kind, the source of the package schema, the reference and the argument types. */
export interface ResourceSchemas {
  description: string;
  /** Inputs of programs. */
  inputs: z.ZodObject;
  /** Outputs in addition to the inputs; the registry `computed` contains how they follow from the inputs. */
  outputs: z.ZodObject;
}

/** Argument of a kind's `plan` hook. `keepsName`: a replacement has the unique name of the old object. */
export type PlanInput = PlannedChange & { keepsName: boolean };

/** Result of a kind's `plan` hook. */
export interface Plan {
  /** The changes, if they differ from the planned ones. */
  changes?: Change[];
  /** Warnings for a preview. */
  warnings?: readonly string[];
}

/** An update: the deployed properties, the new inputs, and which properties differ. */
export interface Update<Inputs> {
  olds: Properties;
  news: Inputs;
  /** The complete settings after the update: the new inputs, and the values that the program omits and that can be combined with it. */
  settings: Inputs;
  /** Properties that the program omits, and whose values the update resets because they contradict it. */
  reset: readonly string[];
  /** The new inputs, and the values that the program omits and the update does not change, with the list of omitted properties. */
  properties: Properties;
  changed(key: string): boolean;
  /** Called after a request that changed the object and that others follow. */
  onApplied?(): void;
}

/** A new or adopted object. */
export interface Created {
  id: string;
  isAdopted?: boolean;
  outputs: object;
}

/** A resource kind in its own types. */
export interface ResourceDefinition<Inputs extends object, Outputs extends object> extends ResourceSchemas {
  kind: string;
  /** The object in messages, if it has no name. */
  label?: (properties: Properties) => string | undefined;
  /** Checked inputs with a name, as the operations receive them. */
  checkedInputs: z.ZodType<Inputs>;
  /** Checks inputs beyond their schema, for a dialect; values may be unknown. */
  validate?: (inputs: Properties, dialect: Dialect, olds: Properties) => Failure[];
  /** Adjusts planned changes and warns about them (Terraform: ModifyPlan). */
  plan?: (change: PlanInput) => Plan;
  /** `properties` are the checked inputs with their list of omitted properties. */
  create(inputs: Inputs, context: Context, properties: Properties): Promise<Created>;
  read(id: string, olds: Properties, context: Context): Promise<ObservedObject<Inputs, Outputs> | undefined>;
  /** Returns the outputs that do not follow from the inputs. */
  update(id: string, update: Update<Inputs>, context: Context): Promise<Partial<Outputs>>;
  delete(id: string, context: Context): Promise<void>;
}

/** An object as reported by the service. A missing key is not reported; an undefined value means that the object has none. */
export interface ObservedObject<Inputs, Outputs> {
  inputs: { [Key in keyof Inputs]?: unknown };
  outputs: Partial<Outputs>;
}

/** The part of an object that creates read. */
export interface NamedObject {
  id: string;
  name: string;
  createdAt?: string | undefined;
}

/** The inputs that every create reads. */
export interface NamedInputs {
  name: string;
  adoptExisting?: boolean | undefined;
}

/** Requests all objects of one kind. */
export type List<ApiObject> = (options: CallOptions) => Promise<ApiObject[]>;

/** Requests for the objects of one kind. */
export interface ObjectClient<Inputs, ApiObject> {
  list: List<ApiObject>;
  /** Absent if the service has no request for a single object. */
  read?(id: string, options: CallOptions): Promise<ApiObject | undefined>;
  create(inputs: Inputs, options: CallOptions): Promise<ApiObject>;
  delete(id: string, options: CallOptions): Promise<void>;
}

/** A kind whose resources are named objects of the service, in its own types. Functions that pass on no inputs omit the last two. */
export interface ObjectDefinition<
  ApiObject extends NamedObject,
  Inputs extends NamedInputs = NamedInputs,
  Outputs extends object = object,
> extends Omit<ResourceDefinition<Inputs, Outputs>, "create" | "read" | "delete"> {
  inputs: z.ZodObject<{ name: z.ZodType }>;
  client(management: ManagementClient): ObjectClient<Inputs, ApiObject>;
  /** Converts a record; `desired` are the properties that it is compared with. */
  observe(object: ApiObject, desired: Properties, context: Context): ObservedObject<Inputs, Outputs>;
  /** Adds what a listed record lacks. For the import of an account, it sends no request for a single object. */
  complete?(object: ApiObject, desired: Properties, context: Context, purpose: "read" | "import"): Promise<ApiObject>;
  /** Deletes an object of a kind that needs more than `deleteIfPresent`, which sends the request and succeeds if the object is absent. */
  delete?(id: string, context: Context, deleteIfPresent: () => Promise<void>): Promise<void>;
}

/** Top-level properties with changes, each once. */
export const changedProperties = (changes: readonly Change[]): string[] => [
  ...new Set(changes.map(({ path }) => path[0] ?? "")),
];

/** Returns true if the changes replace the object. */
export const isReplacement = (changes: readonly Change[]): boolean => changes.some(({ replace }) => replace);

/** The settings that an update changes. */
export function changedSettings<Settings extends object>(settings: Settings, changed: Update<unknown>["changed"]) {
  const changes: Partial<Settings> = { ...settings };
  for (const key in changes) if (!changed(key)) delete changes[key];
  return changes;
}

/** Ids of objects, for messages. */
export const idList = (objects: readonly NamedObject[]): string => objects.map(({ id }) => id).join(", ");
