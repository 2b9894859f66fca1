import { type CallOptions, isApiError } from "serverless-compute-api";
import { callOptions } from "./calls";
import type { Context } from "./contract";
import { type List, listAll, oneOf } from "./listing";

/**
 * The object that the service did not find by its id, in its list; undefined when it is gone. A wrong address returns
 * "not found" for everything: an object counts as gone only where a service returns its list and the object is not
 * in it. The list of a wrong address rejects.
 */
export async function foundInList<Found extends { id: string }>(
  id: string,
  list: List<Found>,
  options: CallOptions,
): Promise<Found | undefined> {
  return oneOf(id, await listAll(list, options));
}

/** Deletes an object; succeeds if the service no longer has it. */
export async function deleteIfPresent<Found extends { id: string }>(
  id: string,
  calls: { remove(id: string, options: CallOptions): Promise<void>; list: List<Found> },
  context: Context,
): Promise<void> {
  try {
    await calls.remove(id, callOptions(context));
    context.sighted?.(true);
  } catch (error) {
    if (!isApiError(error, "missing")) throw error;
    if (await foundInList(id, calls.list, callOptions(context))) throw error;
    context.sighted?.(false);
  }
}
