import type { NamedObject } from "../../framework/definition";
import { canonicalName, hasName } from "../../framework/names";
import { isGeneratedName } from "../../framework/urn";
import { isObjectKind, type Kind, type ObjectKind, objectKinds } from "../../resources";
import { type Account, openAccount } from "../account";
import { settingsIn } from "../provider-settings";
import { type ExportedState, kindOf, type PendingOperation } from "../state";
import {
  type Choices,
  determineOutcome,
  idsIn,
  type Outcome,
  type PendingCreate,
  pendingCreate,
  summaryOf,
} from "./pending";

/** The pending operations of a stack, their outcomes, and the objects that the stack may have left in its accounts. */
export interface Unresolved {
  creates: (PendingCreate & Outcome)[];
  /** Pending creates of resources of other packages. */
  foreign: { urn: string }[];
  /** Pending updates, deletes and reads, which a refresh completes. */
  others: { urn: string; type: string }[];
  orphans: Orphan[];
}

/** Looks up the objects of a stack's pending creates, and orphans. It only reads. */
export async function findUnresolved(
  state: ExportedState,
  choices: Choices,
  notify: (text: string) => void,
  environment?: NodeJS.ProcessEnv,
): Promise<Unresolved> {
  const accounts = new Map<string, Account>();
  const accountOf = (provider = ""): Account => {
    const account = accounts.get(provider) ?? openAccount(settingsIn(state, provider), notify, environment);
    accounts.set(provider, account);
    return account;
  };
  const operations = state.deployment.pending_operations ?? [];
  const pendingCreates = operations.filter(({ type }) => type === "creating");
  try {
    const origins: (OrphanOrigin & { provider: string | undefined })[] = [];
    const addOrigin = (urn: string, kind: Kind, provider: string | undefined, name?: string): void => {
      if (isObjectKind(kind)) origins.push({ urn, kind, provider, name });
    };
    const creates: Unresolved["creates"] = [];
    for (const operation of pendingCreates) {
      const kind = kindOf(operation.resource.type);
      if (kind === undefined) continue;
      const { provider } = operation.resource;
      const create = pendingCreate(operation, kind);
      const isFound = creates.some((other) => other.urn === create.urn && other.outcome === "found");
      const outcome: Outcome = isFound
        ? { outcome: "superseded" }
        : await determineOutcome(create, state, () => accountOf(provider), choices);
      creates.push({ ...create, ...outcome });
      addOrigin(create.urn, kind, provider, outcome.outcome === "superseded" ? create.name : undefined);
    }
    for (const { urn, type, provider } of state.deployment.resources ?? []) {
      const kind = kindOf(type);
      if (kind !== undefined) addOrigin(urn, kind, provider);
    }
    const candidates = creates.flatMap((create) =>
      create.outcome === "found" ? [create.object] : create.outcome === "candidates" ? create.objects : [],
    );
    const knownIds = new Set([...idsIn(state), ...candidates.map(({ id }) => id)]);
    const orphans: Orphan[] = [];
    for (const provider of new Set(origins.map((origin) => origin.provider))) {
      const providerOrigins = origins.filter((origin) => origin.provider === provider);
      orphans.push(...(await findOrphans(providerOrigins, accountOf(provider), knownIds)));
    }
    return {
      creates,
      foreign: pendingCreates.filter(({ resource }) => kindOf(resource.type) === undefined).map(urnOf),
      others: operations
        .filter(({ type }) => type !== "creating")
        .map(({ type, resource: { urn } }) => ({ urn, type })),
      // Two providers may lead to one account.
      orphans: [
        ...new Map(orphans.map((orphan) => [`${orphan.baseUrl} ${orphan.kind} ${orphan.id}`, orphan])).values(),
      ],
    };
  } finally {
    await Promise.all([...accounts.values()].map((account) => account.close()));
  }
}

const urnOf = ({ resource: { urn } }: PendingOperation): { urn: string } => ({ urn });

/** An object of the account that nothing in the state refers to. */
interface Orphan extends NamedObject {
  kind: ObjectKind;
  /** Root of the REST API of its account. */
  baseUrl: string;
}

/** A resource of the stack whose interrupted creates may have left objects. */
type OrphanOrigin = Pick<PendingCreate, "urn" | "name"> & { kind: ObjectKind };

/**
 * Objects with a generated name of one of the resources, or with the name of its superseded pending create, that are not among
 * the known ids.
 */
export async function findOrphans(
  origins: readonly OrphanOrigin[],
  account: Pick<Account, "baseUrl" | "list">,
  knownIds: ReadonlySet<string>,
): Promise<Orphan[]> {
  const orphans = new Map<string, Orphan>();
  for (const { urn, kind, name } of origins) {
    const { objects } = await account.list(kind);
    for (const object of objects.filter(({ id }) => !knownIds.has(id))) {
      const isOrphan =
        isGeneratedName(canonicalName(objectKinds[kind], object.name), urn) ||
        (name !== undefined && hasName(objectKinds[kind], object, name));
      if (isOrphan) orphans.set(`${kind} ${object.id}`, { kind, baseUrl: account.baseUrl, ...summaryOf(object) });
    }
  }
  return [...orphans.values()];
}
