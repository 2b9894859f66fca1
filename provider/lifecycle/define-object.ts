import type { CallOptions, Management } from "serverless-compute-api";
import { traitsOf } from "serverless-compute-api/shapes";
import type { Context, Properties } from "./contract";
import { createOnce } from "./create/create-once";
import type { Findable, Named, Update } from "./create/creation";
import { type Actual, type Definition, defineLifecycle, type ResourceLifecycle } from "./define";
import type { Listing } from "./listing";
import { isLeftToService } from "./properties/schema";
import { toProperties } from "./properties/values";
import { readingOf } from "./reading";
import { createReads, type Reads, type Source } from "./reads";

/** The calls of the service for the objects of one kind. */
export interface Objects<Inputs, Found> extends Source<Found> {
  /** Lists the objects with a name; the list may contain other objects. Absent if the service has no such filter. */
  listNamed?(name: string, options: CallOptions): Promise<Found[]>;
  /** Creates an object. */
  create(inputs: Inputs, options: CallOptions): Promise<Found>;
}

/** A kind whose resources are named objects of the service, in its own types. */
interface ObjectDefinition<Inputs extends Named, Outputs extends object, Found extends Findable>
  extends Omit<Definition<Inputs, Outputs>, "create" | "read" | "delete"> {
  objects(management: Management): Objects<Inputs, Found>;
  /** Converts a record; `wanted` are the properties that it is compared with. */
  fromRecord(found: Found, wanted: Properties, context: Context): Actual<Inputs, Outputs>;
  /** Adds inputs that the record of a read, adopted or imported object lacks. Sends no request for a single imported object. */
  completeInputs?(found: Found, wanted: Properties, context: Context): Promise<Found>;
  /** Adds outputs that the record of a read or adopted object lacks. */
  completeOutputs?(found: Found, wanted: Properties, context: Context): Promise<Found>;
  /** The outputs of an object that was just created or found. */
  made(inputs: Inputs, found: Found, context: Context): Outputs;
  /** Updates an adopted object, without the verification that `prove` runs; defaults to `update`. */
  change?(id: string, update: Update<Inputs>, context: Context): Promise<Outputs>;
  /** Verifies an object that was just created or adopted; if it fails, the object stays in the state as unfinished. */
  prove?(made: { id: string; outputs: Outputs }, inputs: Inputs, context: Context): Promise<void>;
  /** An object with the name of its create, if the service changes names. */
  named?(found: Found, inputs: Inputs): Found;
  /** Deletes an object; succeeds if it is absent. */
  delete(id: string, context: Context): Promise<void>;
}

/** An object of the account with the inputs that an import takes. */
export interface ImportedObject {
  id: string;
  name: string;
  inputs: Properties;
}

/** The lifecycle of a kind of object, with its reads. */
type ObjectLifecycle<Found extends { id: string }> = ResourceLifecycle & {
  reads(context: Pick<Context, "clients">): Reads<Found>;
  /** All listed objects with the inputs that an import takes; sends no request for a single object. */
  imports(context: Context): Promise<Listing<ImportedObject>>;
};

const asItIs = async <Found>(found: Found): Promise<Found> => found;

/** Defines the lifecycle of a kind of object: creates it once, reads it with all others of its kind, deletes it if present. */
export function defineObject<Inputs extends Named, Outputs extends object, Found extends Findable>(
  definition: ObjectDefinition<Inputs, Outputs, Found>,
): ObjectLifecycle<Found> {
  const { kind, inputs: shape, fromRecord, named = (found) => found } = definition;
  const { completeInputs = asItIs, completeOutputs = asItIs } = definition;
  /** A record without inputs that programs of its dialect cannot set. */
  const shown = (found: Found, wanted: Properties, context: Context): Actual<Inputs, Outputs> => {
    const actual = fromRecord(found, wanted, context);
    for (const [key, schema] of Object.entries(shape.shape)) {
      const { dialect = context.clients.dialect } = traitsOf(schema);
      if (dialect !== context.clients.dialect) Reflect.deleteProperty(actual.inputs, key);
    }
    return actual;
  };
  const complete = async (found: Found, wanted: Properties, context: Context): Promise<Found> =>
    completeOutputs(await completeInputs(found, wanted, context), wanted, context);
  const reads = createReads(definition.objects);
  const lifecycle: ResourceLifecycle = defineLifecycle<Inputs, Outputs>({
    ...definition,
    recordsDefaults: true,
    async create(inputs, context) {
      const objects = definition.objects(context.clients.management);
      const { listNamed = (_name: string, options: CallOptions) => objects.list(options) } = objects;
      const made = await createOnce(
        {
          kind,
          inputs,
          shape,
          rules: { ...definition, dialect: context.clients.dialect },
          send: (options) => objects.create(inputs, options),
          list: async (options) => (await objects.list(options)).map((found) => named(found, inputs)),
          listNamed: async (options) => (await listNamed(inputs.name, options)).map((found) => named(found, inputs)),
          actual: (found) => {
            const wanted = toProperties(inputs);
            const entries = Object.entries(fromRecord(found, wanted, context).inputs);
            // A property that the program leaves to the service agrees with any value.
            const isCompared = ([key]: [string, unknown]): boolean => {
              const schema = shape.shape[key];
              return !schema || !isLeftToService(schema, wanted[key]);
            };
            return Object.fromEntries(entries.filter(isCompared));
          },
          outputs: (found) => definition.made(inputs, found, context),
          complete: (found) => complete(found, toProperties(inputs), { ...context, warn: () => {} }),
          change: (id, changes) => (definition.change ?? definition.update)(id, changes, context),
          ...(!lifecycle.traits["name"]?.unique && { remove: (id: string) => definition.delete(id, context) }),
        },
        context,
      );
      await definition.prove?.(made, inputs, context);
      return made;
    },
    async read(id, olds, context) {
      const record = await reads(context).one(id, context);
      context.sighted?.(record !== undefined);
      return record && shown(await complete(record, olds, context), olds, context);
    },
    delete: (id, _olds, context) => definition.delete(id, context),
  });
  const importOf = async (found: Found, context: Context): Promise<ImportedObject> => {
    const actual = shown(await completeInputs(found, {}, context), {}, context);
    const { id, inputs } = readingOf(found.id, {}, actual, definition, []);
    return { id, name: found.name, inputs };
  };
  return {
    ...lifecycle,
    reads,
    async imports(context) {
      const { found, ...listing } = await reads(context).all(context);
      return { ...listing, found: await Promise.all(found.map((one) => importOf(one, context))) };
    },
  };
}
