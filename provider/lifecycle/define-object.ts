import type { CallOptions, Management } from "serverless-compute-api";
import type { Context, Properties } from "./contract";
import { createOnce } from "./create/create-once";
import type { Findable, Named, Update } from "./create/creation";
import { type Actual, type Definition, defineLifecycle, type ResourceLifecycle } from "./define";
import { isLeftToService } from "./properties/schema";
import { toProperties } from "./properties/values";
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
  /** Reads what the object itself does not show, when it is read or adopted. */
  complete?(found: Found, wanted: Properties, context: Context): Promise<Found>;
  /** The outputs of an object that was just created or found. */
  made(inputs: Inputs, found: Found, context: Context): Outputs;
  /** Updates an adopted object, without the verification that `prove` runs; defaults to `update`. */
  change?(id: string, update: Update<Inputs>, context: Context): Promise<Outputs>;
  /** Verifies an object that was just created or adopted; if it fails, the object stays in the state as unfinished. */
  prove?(made: { id: string; outputs: Outputs }, inputs: Inputs, context: Context): Promise<void>;
  /** True if names are not unique: a create that was sent twice then looks for a duplicate. */
  sharesNames?: true;
  /** An object with the name of its create, if the service changes names. */
  named?(found: Found, inputs: Inputs): Found;
  /** Deletes an object; succeeds if it is absent. */
  delete(id: string, context: Context): Promise<void>;
}

/** The lifecycle of a kind of object, with its reads. */
export type ObjectLifecycle<Found extends { id: string }> = ResourceLifecycle & {
  reads(context: Pick<Context, "clients">): Reads<Found>;
};

/** Defines the lifecycle of a kind of object: creates it once, reads it with all others of its kind, deletes it if present. */
export function defineObject<Inputs extends Named, Outputs extends object, Found extends Findable>(
  definition: ObjectDefinition<Inputs, Outputs, Found>,
): ObjectLifecycle<Found> {
  const { kind, inputs: shape, fromRecord, complete, named = (found) => found, sharesNames } = definition;
  const reads = createReads(definition.objects);
  const lifecycle = defineLifecycle<Inputs, Outputs>({
    ...definition,
    recordsDefaults: true,
    async create(inputs, context) {
      const objects = definition.objects(context.clients.management);
      const { listNamed = (_name: string, options: CallOptions) => objects.list(options) } = objects;
      const made = await createOnce(
        {
          ...{ kind, inputs, shape, rules: { ...definition, dialect: context.clients.dialect } },
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
          ...(complete && {
            complete: (found: Found) => complete(found, toProperties(inputs), { ...context, warn: () => {} }),
          }),
          change: (id, changes) => (definition.change ?? definition.update)(id, changes, context),
          ...(sharesNames && { remove: (id: string) => definition.delete(id, context) }),
        },
        context,
      );
      await definition.prove?.(made, inputs, context);
      return made;
    },
    async read(id, olds, context) {
      const record = await reads(context).one(id, context);
      context.sighted?.(record !== undefined);
      const whole = record && complete ? await complete(record, olds, context) : record;
      return whole && fromRecord(whole, olds, context);
    },
    delete: (id, _olds, context) => definition.delete(id, context),
  });
  return { ...lifecycle, reads };
}
