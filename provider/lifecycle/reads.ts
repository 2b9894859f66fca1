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
  /** Invalidates the list, so that the next read requests it again. */
  forget(): void;
}

function keptReads<Found extends { id: string }>({ list, read }: Source<Found>): Reads<Found> {
  let kept: { listing: Promise<Listing<Found>>; since: number } | undefined;
  const all: Reads<Found>["all"] = (context) => {
    const now = context.clock.now();
    if (kept && now - kept.since < keptFor) return kept.listing;
    const mine = { listing: listAll(list, sharedCallOptions(context)), since: now };
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
    forget() {
      kept = undefined;
    },
  };
}

/** Functions that invalidate the lists of each kind that was read. */
const forgetting = new WeakMap<Clients, Set<() => void>>();

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
    forgetting.set(clients, (forgetting.get(clients) ?? new Set()).add(reads.forget));
    return reads;
  };
}

/** Invalidates the lists of all kinds. */
export function forgetReads(clients: Clients): void {
  for (const forget of forgetting.get(clients) ?? []) forget();
}
