import type { Clients, ManagementClient } from "serverless-compute-api";
import { type CallContext, callOptions, sharedCallOptions, untilAborted } from "./calls";
import type { Context } from "./contract";
import type { ObjectClient } from "./definition";
import { sharedValue } from "./deployment";
import { findById, type Listing, listAll } from "./listing";

/**
 * Time that a list serves reads, ms. An engine reads a few objects at a time, so one list serves a whole refresh. Every change
 * by this process invalidates it.
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

/** Number of changes that invalidated the lists. */
const changes = sharedValue(() => ({ count: 0 }));

/** Invalidates the lists of all kinds. */
export const invalidateLists = (context: { clients: Clients }): void => void changes(context).count++;

function cachingReader<ApiObject extends { id: string }>({
  list,
  read,
}: ReadClient<ApiObject>): ObjectReader<ApiObject> {
  let cached: { listing: Promise<Listing<ApiObject>>; since: number; changeCount: number } | undefined;
  const listCached: ObjectReader<ApiObject>["list"] = (context) => {
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
  return {
    list: listCached,
    async get(id, context) {
      const listing = await untilAborted(listCached(context), context.signal);
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
