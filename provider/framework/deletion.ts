import { type CallOptions, isApiError } from "serverless-compute-api";
import { callOptions } from "./calls";
import type { Context } from "./contract";
import type { List, NamedObject, ObjectDefinition } from "./definition";
import { findById, listAll, omitFromLists } from "./lists";

/** Deletes an object of a kind; succeeds if the service no longer has it. */
export const deleteObject = <ApiObject extends NamedObject>(
  definition: ObjectDefinition<ApiObject>,
  id: string,
  context: Context,
): Promise<void> =>
  definition.delete
    ? definition.delete(id, context)
    : deleteIfPresent(id, definition.client(context.clients.management), context);

/**
 * Deletes an object by its id; succeeds if the service no longer has it. A wrong address returns "not found" for everything, so an object
 * counts as deleted only if the service returns a list without it. The list of a wrong address rejects.
 */
export async function deleteIfPresent<ApiObject extends { id: string }>(
  id: string,
  client: { delete(id: string, options: CallOptions): Promise<void>; list: List<ApiObject> },
  context: Context,
): Promise<void> {
  try {
    await client.delete(id, callOptions(context));
    context.reportFound?.(true);
  } catch (error) {
    if (!isApiError(error, "missing")) throw error;
    if (findById(id, await listAll(client.list, callOptions(context)))) throw error;
    context.reportFound?.(false);
  }
  omitFromLists(id, context);
}
