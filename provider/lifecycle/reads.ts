import type { CallOptions, Clients, Management } from "serverless-compute-api";
import { callOptions, sharedCallOptions, whileAllowed } from "./calls";
import type { Context } from "./contract";
import { type List, type Listing, listAll, oneOf } from "./listing";

/**
 * Time that a list serves reads, ms. An engine reads a few objects at a time, so one list serves a whole refresh. Every change
 * by this process invalidates it.
 */
const keptFor = 2000;

type ReadContext = Pick<
  Context,
  "clients" | "clock" | "signal" | "end" | "onDeadline" | "cancelSignal" | "progress" | "secrets"
>;

/** Requests for the objects of one kind. */
export interface Source<Found> {
  list: List<Found>;
  /** Absent if the service has no request for a single object. */
  read?(id: string, options: CallOptions): Promise<Found | undefined>;
}

/** Reads of one kind. */
export interface Reads<Found extends { id: string }> {
  /** Returns all listed objects, possibly from a recent list. */
  all(context: ReadContext): Promise<Listing<Found>>;
  /**
   * Returns one object; undefined if it does not exist. Lists may be capped, so a missing or unreadable object is requested
   * by id. A wrong address returns "not found" for everything, but its list rejects, so no object counts as deleted because of it.
   */
  one(id: string, context: ReadContext): Promise<Found | undefined>;
}

/** Number of changes that invalidated the lists, per clients. */
const changes = new WeakMap<Clients, number>();
const changesOf = (clients: Clients): number => changes.get(clients) ?? 0;

/** Invalidates the lists of all kinds. */
export const forgetReads = (clients: Clients): void => void changes.set(clients, changesOf(clients) + 1);

function keptReads<Found extends { id: string }>({ list, read }: Source<Found>): Reads<Found> {
  let kept: { listing: Promise<Listing<Found>>; since: number; change: number } | undefined;
  const all: Reads<Found>["all"] = (context) => {
    const now = context.clock.now();
    const change = changesOf(context.clients);
    if (kept?.change === change && now - kept.since < keptFor) return kept.listing;
    const mine = { listing: listAll(list, sharedCallOptions(context)), since: now, change };
    kept = mine;
    mine.listing.catch(() => {
      if (kept === mine) kept = undefined;
    });
    return mine.listing;
  };
  return {
    all,
    async one(id, context) {
      const listing = await whileAllowed(all(context), context.signal);
      if (!read) return oneOf(id, listing);
      return listing.found.find((each) => each.id === id) ?? read(id, callOptions(context));
    },
  };
}

/** Creates the reads of one kind, which share a list per clients and therefore per deployment. */
export function createReads<Found extends { id: string }>(
  sourceIn: (management: Management) => Source<Found>,
): (context: Pick<Context, "clients">) => Reads<Found> {
  const perClients = new WeakMap<Clients, Reads<Found>>();
  return ({ clients }) => {
    const known = perClients.get(clients);
    if (known) return known;
    const reads = keptReads(sourceIn(clients.management));
    perClients.set(clients, reads);
    return reads;
  };
}
