import type { CallOptions, Management } from "serverless-compute-api";
import { optionsOf } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { hasUnknown, type Properties, stringAt, toProperties, type Value } from "../engine/values";
import { untilAborted } from "./calls";
import type { Change, Context } from "./contract";
import { type Adoption, describeChanges, findAdoption, planAdoption } from "./create/adoption";
import { createOnce } from "./create/create-once";
import type { Created, NamedInputs, NamedObject } from "./create/creation";
import { type Definition, defineLifecycle, type ResourceLifecycle } from "./define-lifecycle";
import { createListCache, type ObjectReader, type Source } from "./list-cache";
import type { Listing } from "./listing";
import {
  keptValues,
  programInputs,
  recordedDefaults,
  serviceDetermined,
  withOmitted,
  withoutOmitted,
} from "./properties/defaults";
import { usesServiceDefault } from "./properties/schema";
import { derivedOutputs, type ObservedObject, readResultOf } from "./read-result";

/** The calls of the service for the objects of one kind. */
export interface Objects<Inputs, ApiObject> extends Source<ApiObject> {
  /** Lists the objects with a name; the list may contain other objects. Absent if the service has no such filter. */
  listNamed?(name: string, options: CallOptions): Promise<ApiObject[]>;
  /** Creates an object. */
  create(inputs: Inputs, options: CallOptions): Promise<ApiObject>;
}

/** A kind whose resources are named objects of the service, in its own types. */
export interface ObjectDefinition<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>
  extends Omit<Definition<Inputs, Outputs>, "create" | "read" | "delete"> {
  inputs: z.ZodObject<{ name: z.ZodType }>;
  objects(management: Management): Objects<Inputs, ApiObject>;
  /** Converts a record; `desired` are the properties that it is compared with. */
  observe(object: ApiObject, desired: Properties, context: Context): ObservedObject<Inputs, Outputs>;
  /** Adds inputs that the record of a read, adopted or imported object lacks. Sends no request for a single imported object. */
  completeInputs?(object: ApiObject, desired: Properties, context: Context): Promise<ApiObject>;
  /** Adds outputs that the record of a read or adopted object lacks. */
  completeOutputs?(object: ApiObject, desired: Properties, context: Context): Promise<ApiObject>;
  /** The outputs of an object that was just created or found. */
  outputsOf(inputs: Inputs, object: ApiObject, context: Context): Outputs;
  /** An object with the name of its create, if the service changes names. */
  withName?(object: ApiObject, inputs: Pick<NamedInputs, "name">): ApiObject;
  /** Deletes an object; succeeds if it is absent. */
  delete(id: string, context: Context): Promise<void>;
}

/** An object of the account with the inputs of an import. */
export interface ImportedObject {
  id: string;
  name: string;
  inputs: Properties;
}

/** The lifecycle of a kind of object, with its reader. */
type ObjectLifecycle<ApiObject extends { id: string }> = ResourceLifecycle & {
  reader(context: Pick<Context, "clients">): ObjectReader<ApiObject>;
  /** All listed objects with the inputs of an import; sends no request for a single object. */
  listImports(context: Context): Promise<Listing<ImportedObject>>;
};

/** A record without inputs that programs of its dialect cannot set. */
function reportedObjectOf<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  { inputs: shape, observe }: ObjectDefinition<Inputs, Outputs, ApiObject>,
  object: ApiObject,
  desired: Properties,
  context: Context,
): ObservedObject<Inputs, Outputs> {
  const actual = observe(object, desired, context);
  for (const [key, schema] of Object.entries(shape.shape)) {
    const { dialect = context.clients.dialect } = optionsOf(schema);
    if (dialect !== context.clients.dialect) Reflect.deleteProperty(actual.inputs, key);
  }
  return actual;
}

/** Adds what the record of a read or adopted object lacks. */
async function complete<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  definition: ObjectDefinition<Inputs, Outputs, ApiObject>,
  object: ApiObject,
  desired: Properties,
  context: Context,
): Promise<ApiObject> {
  const withInputs = (await definition.completeInputs?.(object, desired, context)) ?? object;
  return (await definition.completeOutputs?.(withInputs, desired, context)) ?? withInputs;
}

/** Values that the service has determined for properties that the program omits. */
function determinedValues<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  definition: ObjectDefinition<Inputs, Outputs, ApiObject>,
  object: ApiObject,
  desired: Properties,
  context: Context,
): Properties {
  const { inputs: shape, serviceDefaults } = definition;
  const reported = toProperties(reportedObjectOf(definition, object, desired, context).inputs);
  return Object.fromEntries(
    serviceDetermined(shape, desired, serviceDefaults).flatMap((key): [string, Value][] => {
      const value = reported[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Plans the adoption of a complete object; `properties` are checked inputs with their record of defaults, perhaps unknown. */
function adoptionOf<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  definition: ObjectDefinition<Inputs, Outputs, ApiObject>,
  object: ApiObject,
  properties: Properties,
  context: Context,
): Adoption {
  const { inputs: shape, validate } = definition;
  const { dialect } = context.clients;
  const desired = withoutOmitted(properties);
  const entries = Object.entries(properties).filter(([key]) => key in shape.shape);
  const existing = toProperties(reportedObjectOf(definition, object, desired, context).inputs);
  // An unknown value counts as a change, and the object's value is as valid as any other.
  const unknownKeys = entries.flatMap(([key, value]) => (hasUnknown(value) ? [key] : []));
  const known = entries.map(([key, value]) => [key, hasUnknown(value) ? existing[key] : value]);
  const adoption = planAdoption(existing, toProperties(Object.fromEntries(known)), {
    shape,
    diff: { ...definition, dialect },
    isOmitted: (key) => !(key in desired),
    isValid: (inputs) => shape.safeParse(inputs).success && (validate?.(inputs, dialect, {}) ?? []).length === 0,
  });
  const unknownChanges = unknownKeys.map((key): Change => ({ path: [key], kind: "update", replace: false }));
  return { ...adoption, changes: [...adoption.changes, ...unknownChanges] };
}

/**
 * Creates the object of a resource once, or adopts an existing one and updates it with the definition's `update`. `properties` are
 * the checked inputs with their record of defaults.
 */
export async function createObject<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  definition: ObjectDefinition<Inputs, Outputs, ApiObject>,
  inputs: Inputs,
  properties: Properties,
  context: Context,
): Promise<Created<Outputs>> {
  const { kind, inputs: shape, observe, withName = (object) => object } = definition;
  const objects = definition.objects(context.clients.management);
  const { listNamed = (_name: string, options: CallOptions) => objects.list(options) } = objects;
  const desired = toProperties(inputs);
  // A property that the program leaves to the service agrees with any value.
  const keysOfService = new Set(
    Object.entries(shape.shape).flatMap(([key, schema]) => (usesServiceDefault(schema, desired[key]) ? [key] : [])),
  );
  const hasUniqueNames = optionsOf(shape.shape.name).unique === true;
  return createOnce(
    {
      kind,
      inputs,
      shape,
      rules: { ...definition, dialect: context.clients.dialect },
      send: (options) => objects.create(inputs, options),
      list: async (options) => (await objects.list(options)).map((object) => withName(object, inputs)),
      listNamed: async (options) => (await listNamed(inputs.name, options)).map((object) => withName(object, inputs)),
      inputsOf: (object) => {
        const entries = Object.entries(observe(object, desired, context).inputs);
        return Object.fromEntries(entries.filter(([key]) => !keysOfService.has(key)));
      },
      outputsOf: (object) => ({
        ...definition.outputsOf(inputs, object, context),
        ...determinedValues(definition, object, desired, context),
      }),
      complete: (object) => complete(definition, object, desired, { ...context, warn: () => {} }),
      plan: (object) => adoptionOf(definition, object, properties, context),
      parse: (adopted) => definition.checkedInputs.parse(adopted),
      // Like a read, outputs derived from inputs do not contain values that the program omits.
      updateAdopted: async (id, changes, kept) => ({
        ...(await definition.update(id, changes, context)),
        ...derivedOutputs(definition.computed, withoutOmitted(properties), id),
        ...kept,
      }),
      ...(!hasUniqueNames && { remove: (id: string) => definition.delete(id, context) }),
    },
    context,
  );
}

/**
 * Defines the lifecycle of a kind of object: creates it once, reads it with all others of its kind, deletes it if present.
 * `verbs` replaces verbs of kinds that do more.
 */
export function defineObject<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  definition: ObjectDefinition<Inputs, Outputs, ApiObject>,
  verbs: Partial<Pick<Definition<Inputs, Outputs>, "create" | "update">> = {},
): ObjectLifecycle<ApiObject> {
  const { inputs: shape } = definition;
  const reader = createListCache(definition.objects);
  const lifecycle = defineLifecycle<Inputs, Outputs>({
    ...definition,
    create: (inputs, context, properties) => createObject(definition, inputs, properties, context),
    async read(id, olds, context) {
      const record = await reader(context).get(id, context);
      context.reportFound?.(record !== undefined);
      if (!record) return undefined;
      const desired = withoutOmitted(olds);
      return reportedObjectOf(definition, await complete(definition, record, desired, context), desired, context);
    },
    delete: (id, _olds, context) => definition.delete(id, context),
    ...verbs,
  });
  const importedObjectOf = async (object: ApiObject, context: Context): Promise<ImportedObject> => {
    const record = (await definition.completeInputs?.(object, {}, context)) ?? object;
    const { id, inputs } = readResultOf(object.id, {}, reportedObjectOf(definition, record, {}, context), definition);
    return { id, name: object.name, inputs };
  };
  return {
    ...lifecycle,
    async adoptionWarning(properties, context) {
      const { kind, withName = (object) => object } = definition;
      const name = stringAt(properties, "name");
      if (name === undefined) return undefined;
      const quiet = { ...context, warn: () => {} };
      const { objects } = await untilAborted(reader(context).list(context), context.signal);
      const found = await findAdoption(
        {
          kind,
          inputs: { name },
          shape,
          rules: { ...definition, dialect: context.clients.dialect },
          complete: (object) => complete(definition, object, properties, quiet),
          plan: (object) => adoptionOf(definition, object, properties, context),
        },
        objects.map((object) => withName(object, { name })),
        context,
      );
      if (!found) return undefined;
      const changes = describeChanges(found.adoption, shape, context.secrets?.paths);
      const subject = `adoptExisting: the existing ${kind} ${found.object.id} is adopted`;
      return changes === undefined ? `${subject} without a change` : `${subject} and changes in place: ${changes}`;
    },
    /** Also records which properties the program omits, with the values of the state; the service may have other values for these. */
    check(olds, news, ...rest) {
      const program = programInputs(olds, news);
      const result = lifecycle.check(olds, program, ...rest);
      const inputs = { ...result.inputs, ...recordedDefaults(shape, program) };
      return { ...result, inputs: withOmitted(inputs, keptValues(shape, olds, inputs)) };
    },
    reader,
    async listImports(context) {
      const { objects, ...listing } = await reader(context).list(context);
      return { ...listing, objects: await Promise.all(objects.map((object) => importedObjectOf(object, context))) };
    },
  };
}
