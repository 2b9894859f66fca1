import {
  type CallOptions,
  type Clients,
  type ManagementClient,
  type UnreadableElement,
  untilAborted,
} from "serverless-compute-api";
import { type CallContext, callOptions, sharedCallOptions } from "./calls";
import type { Context } from "./contract";
import type { List, ObjectClient } from "./definition";
import { sharedValue } from "./deployment";

/** Contents of a list, and the reason why it cannot prove that an object does not exist. */
export interface Listing<ApiObject> {
  objects: ApiObject[];
  /** Elements that do not fit the shape of their kind. */
  unreadable: UnreadableElement[];
  /** True if the service may have more than it lists. */
  mayBeCapped: boolean;
}

/**
 * Services cap their lists at round numbers, for example 400, and show the oldest objects without reporting the cap. So a
 * list of such a length may be capped, unless the service states that it is complete.
 */
const isPossibleCap = (length: number): boolean => length > 0 && (length % 50 === 0 || length % 64 === 0);

/** Requests a list; an unreadable object does not affect the others. */
export async function listAll<ApiObject>(list: List<ApiObject>, options: CallOptions): Promise<Listing<ApiObject>> {
  const unreadable: UnreadableElement[] = [];
  const onUnreadable = (element: UnreadableElement): void => {
    unreadable.push(element);
    options.onUnreadable?.(element);
  };
  let isComplete = false;
  const onComplete = (): void => {
    isComplete = true;
  };
  const objects = await list({ ...options, onUnreadable, onComplete });
  return { objects, unreadable, mayBeCapped: !isComplete && isPossibleCap(objects.length + unreadable.length) };
}

/**
 * Returns the object with an id in a list; undefined if there is none. Rejects if the object, or an object without an id, is
 * unreadable, so that the list of a wrong address never counts as a deletion.
 */
export function findById<ApiObject extends { id: string }>(id: string, { objects, unreadable }: Listing<ApiObject>) {
  const object = objects.find((candidate) => candidate.id === id);
  const obstacle = object
    ? undefined
    : unreadable.find((candidate) => candidate.id === id || candidate.id === undefined);
  if (obstacle) throw obstacle.error;
  return object;
}

/**
 * Time that a list serves reads, ms. An engine reads or deletes a few objects at a time, so one list serves many. Every change by this
 * process that is not a delete invalidates it.
 */
const cacheLifetime = 2000;

/** Requests that read the objects of one kind. */
type ReadClient<ApiObject> = Pick<ObjectClient<never, ApiObject>, "list" | "read">;

/** Reads the objects of one kind. */
export interface ObjectReader<ApiObject extends { id: string }> {
  /** Returns all listed objects, possibly from a recent list. */
  list(context: CallContext): Promise<Listing<ApiObject>>;
  /**
   * Returns one object; undefined if it does not exist. Lists may be capped, so a missing or unreadable object is requested
   * by id. A wrong address returns "not found" for everything, but its list rejects, so no object counts as deleted because of it.
   */
  get(id: string, context: CallContext): Promise<ApiObject | undefined>;
}

/** Number of changes that invalidated the lists, and ids of deleted objects, which a list may still contain. */
const changes = sharedValue(() => ({ count: 0, deleted: new Set<string>() }));

/** Invalidates the lists of all kinds. */
export const invalidateLists = (context: { clients: Clients }): void => void changes(context).count++;

/** Omits a deleted object from the lists. */
export const omitFromLists = (id: string, context: { clients: Clients }): void => void changes(context).deleted.add(id);

function cachingReader<ApiObject extends { id: string }>({
  list,
  read,
}: ReadClient<ApiObject>): ObjectReader<ApiObject> {
  let cached: { listing: Promise<Listing<ApiObject>>; since: number; changeCount: number } | undefined;
  const listCached = (context: CallContext): Promise<Listing<ApiObject>> => {
    const now = context.clock.now();
    const changeCount = changes(context).count;
    if (cached?.changeCount === changeCount && now - cached.since < cacheLifetime) return cached.listing;
    const entry = { listing: listAll(list, sharedCallOptions(context)), since: now, changeCount };
    cached = entry;
    entry.listing.catch(() => {
      if (cached === entry) cached = undefined;
    });
    return entry.listing;
  };
  const listRemaining: ObjectReader<ApiObject>["list"] = async (context) => {
    const { objects, ...listing } = await untilAborted(listCached(context), context.signal);
    const { deleted } = changes(context);
    return { ...listing, objects: objects.filter(({ id }) => !deleted.has(id)) };
  };
  return {
    list: listRemaining,
    async get(id, context) {
      const listing = await listRemaining(context);
      if (!read) return findById(id, listing);
      return listing.objects.find((candidate) => candidate.id === id) ?? read(id, callOptions(context));
    },
  };
}

/** Creates the reader of one kind, whose reads share a list within a deployment. */
export const createListCache = <ApiObject extends { id: string }>(
  clientOf: (management: ManagementClient) => ReadClient<ApiObject>,
): ((context: Pick<Context, "clients">) => ObjectReader<ApiObject>) =>
  sharedValue(({ management }) => cachingReader(clientOf(management)));
