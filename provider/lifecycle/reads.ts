import type {
  CallOptions,
  Clients,
  NetworkVolumeRecord,
  RegistryAuthRecord,
  SecretRecord,
  ServerlessEndpointRecord,
  TemplateRecord,
} from "serverless-compute-api";
import { callOptions, sharedCallOptions, whileAllowed } from "./calls";
import type { Context } from "./lifecycle";
import { type List, type Listing, listAll, oneOf } from "./listing";

/**
 * Milliseconds that a list answers reads. An engine asks for a few objects at a time, wave after wave: one list does
 * for all of a refresh. Whatever this process changes makes it ask anew.
 */
const keptFor = 2000;

type ReadContext = Pick<
  Context,
  "clients" | "clock" | "signal" | "end" | "onDeadline" | "cancelSignal" | "progress" | "secrets"
>;

/** How the objects of one kind are read. */
interface Source<Found> {
  list: List<Found>;
  /** Absent where the service cannot read a single one. */
  read?(id: string, options: CallOptions): Promise<Found | undefined>;
}

/** Reads of one kind. */
interface Reads<Found extends { id: string }> {
  /** Everything that the service lists; a list of some moments ago does. */
  all(context: ReadContext): Promise<Listing<Found>>;
  /**
   * One object, undefined when the service has none of that id. Lists may be capped, so what is not in one is looked up
   * by id, and so is what cannot be read there. A wrong address answers "not found" to everything: its list rejects, so nothing counts as gone because of it.
   */
  one(id: string, context: ReadContext): Promise<Found | undefined>;
  /** Makes the next one ask the service. */
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

/** The reads of every kind. */
export interface AllReads {
  templates: Reads<TemplateRecord>;
  endpoints: Reads<ServerlessEndpointRecord>;
  networkVolumes: Reads<NetworkVolumeRecord>;
  secrets: Reads<SecretRecord>;
  registryAuths: Reads<RegistryAuthRecord>;
}

const perClients = new WeakMap<Clients, AllReads>();

/** The reads of a deployment, by kind. */
export function readsOf({ clients }: ReadContext): AllReads {
  const known = perClients.get(clients);
  if (known) return known;
  const { management } = clients;
  const reads: AllReads = {
    templates: keptReads({ list: management.listTemplates, read: management.readTemplate }),
    endpoints: keptReads({ list: management.listEndpoints, read: management.readEndpoint }),
    networkVolumes: keptReads({ list: management.listNetworkVolumes, read: management.readNetworkVolume }),
    secrets: keptReads({ list: management.listSecrets }),
    registryAuths: keptReads({ list: management.listRegistryAuths }),
  };
  perClients.set(clients, reads);
  return reads;
}

/** Makes the next read of any kind ask the service. */
export function forgetReads(clients: Clients): void {
  for (const reads of Object.values(perClients.get(clients) ?? {})) reads.forget();
}
