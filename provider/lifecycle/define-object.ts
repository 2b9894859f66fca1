import type { CallOptions, Management } from "serverless-compute-api";
import { traitsOf } from "serverless-compute-api/shapes";
import type { Context, Properties } from "./contract";
import { createOnce } from "./create/create-once";
import type { NamedInputs, NamedObject, Update } from "./create/creation";
import { type Definition, defineLifecycle, type ReportedObject, type ResourceLifecycle } from "./define-lifecycle";
import type { Listing } from "./listing";
import { usesServiceDefault } from "./properties/schema";
import { toProperties } from "./properties/values";
import { readResultOf } from "./read-result";
import { createReader, type ObjectReader, type Source } from "./reader";

/** The calls of the service for the objects of one kind. */
export interface Objects<Inputs, ApiObject> extends Source<ApiObject> {
  /** Lists the objects with a name; the list may contain other objects. Absent if the service has no such filter. */
  listNamed?(name: string, options: CallOptions): Promise<ApiObject[]>;
  /** Creates an object. */
  create(inputs: Inputs, options: CallOptions): Promise<ApiObject>;
}

/** A kind whose resources are named objects of the service, in its own types. */
interface ObjectDefinition<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>
  extends Omit<Definition<Inputs, Outputs>, "create" | "read" | "delete"> {
  objects(management: Management): Objects<Inputs, ApiObject>;
  /** Converts a record; `desired` are the properties that it is compared with. */
  fromRecord(object: ApiObject, desired: Properties, context: Context): ReportedObject<Inputs, Outputs>;
  /** Adds inputs that the record of a read, adopted or imported object lacks. Sends no request for a single imported object. */
  completeInputs?(object: ApiObject, desired: Properties, context: Context): Promise<ApiObject>;
  /** Adds outputs that the record of a read or adopted object lacks. */
  completeOutputs?(object: ApiObject, desired: Properties, context: Context): Promise<ApiObject>;
  /** The outputs of an object that was just created or found. */
  outputsOf(inputs: Inputs, object: ApiObject, context: Context): Outputs;
  /** Updates an adopted object, without the verification that `verify` runs; defaults to `update`. */
  updateAdopted?(id: string, update: Update<Inputs>, context: Context): Promise<Outputs>;
  /** Verifies an object that was just created or adopted; if it fails, the object stays in the state as unfinished. */
  verify?(created: { id: string; outputs: Outputs }, inputs: Inputs, context: Context): Promise<void>;
  /** An object with the name of its create, if the service changes names. */
  withName?(object: ApiObject, inputs: Inputs): ApiObject;
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

const identity = async <ApiObject>(object: ApiObject): Promise<ApiObject> => object;

/** Defines the lifecycle of a kind of object: creates it once, reads it with all others of its kind, deletes it if present. */
export function defineObject<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  definition: ObjectDefinition<Inputs, Outputs, ApiObject>,
): ObjectLifecycle<ApiObject> {
  const { kind, inputs: shape, fromRecord, withName = (object) => object } = definition;
  const { completeInputs = identity, completeOutputs = identity } = definition;
  /** A record without inputs that programs of its dialect cannot set. */
  const reportedObjectOf = (
    object: ApiObject,
    desired: Properties,
    context: Context,
  ): ReportedObject<Inputs, Outputs> => {
    const actual = fromRecord(object, desired, context);
    for (const [key, schema] of Object.entries(shape.shape)) {
      const { dialect = context.clients.dialect } = traitsOf(schema);
      if (dialect !== context.clients.dialect) Reflect.deleteProperty(actual.inputs, key);
    }
    return actual;
  };
  const complete = async (object: ApiObject, desired: Properties, context: Context): Promise<ApiObject> =>
    completeOutputs(await completeInputs(object, desired, context), desired, context);
  const reader = createReader(definition.objects);
  const lifecycle: ResourceLifecycle = defineLifecycle<Inputs, Outputs>({
    ...definition,
    recordsDefaults: true,
    async create(inputs, context) {
      const objects = definition.objects(context.clients.management);
      const { listNamed = (_name: string, options: CallOptions) => objects.list(options) } = objects;
      const created = await createOnce(
        {
          kind,
          inputs,
          shape,
          rules: { ...definition, dialect: context.clients.dialect },
          send: (options) => objects.create(inputs, options),
          list: async (options) => (await objects.list(options)).map((object) => withName(object, inputs)),
          listNamed: async (options) =>
            (await listNamed(inputs.name, options)).map((object) => withName(object, inputs)),
          inputsOf: (object) => {
            const desired = toProperties(inputs);
            const entries = Object.entries(fromRecord(object, desired, context).inputs);
            // A property that the program leaves to the service agrees with any value.
            const isCompared = ([key]: [string, unknown]): boolean => {
              const schema = shape.shape[key];
              return !schema || !usesServiceDefault(schema, desired[key]);
            };
            return Object.fromEntries(entries.filter(isCompared));
          },
          outputsOf: (object) => definition.outputsOf(inputs, object, context),
          complete: (object) => complete(object, toProperties(inputs), { ...context, warn: () => {} }),
          updateAdopted: (id, changes) => (definition.updateAdopted ?? definition.update)(id, changes, context),
          ...(!lifecycle.traits["name"]?.unique && { remove: (id: string) => definition.delete(id, context) }),
        },
        context,
      );
      await definition.verify?.(created, inputs, context);
      return created;
    },
    async read(id, olds, context) {
      const record = await reader(context).get(id, context);
      context.onLookup?.(record !== undefined);
      return record && reportedObjectOf(await complete(record, olds, context), olds, context);
    },
    delete: (id, _olds, context) => definition.delete(id, context),
  });
  const importedObjectOf = async (object: ApiObject, context: Context): Promise<ImportedObject> => {
    const actual = reportedObjectOf(await completeInputs(object, {}, context), {}, context);
    const { id, inputs } = readResultOf(object.id, {}, actual, definition, []);
    return { id, name: object.name, inputs };
  };
  return {
    ...lifecycle,
    reader,
    async listImports(context) {
      const { objects, ...listing } = await reader(context).list(context);
      return { ...listing, objects: await Promise.all(objects.map((object) => importedObjectOf(object, context))) };
    },
  };
}
