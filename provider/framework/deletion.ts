import { isApiError } from "serverless-compute-api";
import { callOptions } from "./calls";
import type { Context } from "./contract";
import type { NamedObject, ObjectDefinition } from "./definition";
import { findById, listAll, omitFromLists } from "./lists";

/**
 * Deletes an object of a kind; succeeds if the service no longer has it. A wrong address returns "not found" for everything, so an object
 * counts as deleted only if the service returns a list without it. The list of a wrong address rejects.
 */
export function deleteObject<ApiObject extends NamedObject>(
  definition: ObjectDefinition<ApiObject>,
  id: string,
  context: Context,
): Promise<void> {
  const client = definition.client(context.clients.management);
  const deleteIfPresent = async (): Promise<void> => {
    try {
      await client.delete(id, callOptions(context));
      context.reportFound?.(true);
    } catch (error) {
      if (!isApiError(error, "missing")) throw error;
      if (findById(id, await listAll(client.list, callOptions(context)))) throw error;
      context.reportFound?.(false);
    }
    omitFromLists(id, context);
  };
  return definition.delete ? definition.delete(id, context, deleteIfPresent) : deleteIfPresent();
}
