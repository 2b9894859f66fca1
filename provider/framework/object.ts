import { type Properties, stringAt } from "../engine/values";
import type { Context } from "./contract";
import { adoptableIn, describeAdoption, findAdoption } from "./create/adoption";
import { createOnce } from "./create/create-once";
import type { NamedInputs, NamedObject, ObjectDefinition, ResourceDefinition } from "./definition";
import { deleteObject } from "./deletion";
import { createListCache, type Listing, type ObjectReader } from "./lists";
import { completeObject, observeObject, readResultOf } from "./observation";
import { defineResource, type Resource } from "./operations";
import { withoutOmitted } from "./properties/defaults";
import { updateOrMark } from "./unfinished";

/** An object of the account with the inputs of an import. */
export interface ImportedObject {
  id: string;
  name: string;
  inputs: Properties;
}

/** The operations of a kind of object, with its reader. */
type ObjectResource<ApiObject extends { id: string }> = Resource & {
  reader(context: Pick<Context, "clients">): ObjectReader<ApiObject>;
  /** All listed objects with the inputs of an import; sends no request for a single object. */
  listImports(context: Context): Promise<Listing<ImportedObject>>;
};

/**
 * Defines a kind of object: creates it once, reads it with all others of its kind, deletes it if present. `operations` replaces
 * the create of a kind that does more, and the reader of a kind that other kinds also read.
 */
export function defineObject<Inputs extends NamedInputs, Outputs extends object, ApiObject extends NamedObject>(
  definition: ObjectDefinition<ApiObject, Inputs, Outputs>,
  {
    reader = createListCache(definition.client),
    ...operations
  }: Partial<Pick<ResourceDefinition<Inputs, Outputs>, "create"> & Pick<ObjectResource<ApiObject>, "reader">> = {},
): ObjectResource<ApiObject> {
  const { kind, inputs: shape } = definition;
  const resource = defineResource<Inputs, Outputs>({
    ...definition,
    create: (inputs, context, properties) => createOnce(definition, inputs, properties, context),
    async read(id, olds, context) {
      const record = await reader(context).get(id, context);
      context.reportFound?.(record !== undefined);
      if (!record) return undefined;
      const desired = withoutOmitted(olds);
      const object = await completeObject(definition, record, desired, context);
      return observeObject(definition, object, desired, context);
    },
    delete: (id, context) => deleteObject(definition, id, context),
    update: (id, update, context) => updateOrMark(id, update, context, definition.update),
    ...operations,
  });
  const importedObjectOf = async (object: ApiObject, context: Context): Promise<ImportedObject> => {
    const record = await completeObject(definition, object, {}, context, "import");
    const { id, name } = object;
    const observed = observeObject(definition, record, {}, context);
    const { inputs } = readResultOf(id, {}, observed, definition, context.clients.dialect);
    return { id, name, inputs };
  };
  return {
    ...resource,
    async adoptionWarning(properties, context) {
      const name = stringAt(properties, "name");
      if (name === undefined) return undefined;
      const { objects } = await reader(context).list(context);
      const candidates = adoptableIn(objects, definition, name, context);
      const found = await findAdoption(definition, name, properties, candidates, context);
      if (!found) return undefined;
      const description = describeAdoption(found.adoption, shape, context);
      return `adoptExisting: the existing ${kind} ${found.object.id} is adopted ${description}`;
    },
    reader,
    async listImports(context) {
      const { objects, ...listing } = await reader(context).list(context);
      return { ...listing, objects: await Promise.all(objects.map((object) => importedObjectOf(object, context))) };
    },
  };
}
