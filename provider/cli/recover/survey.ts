import { isObjectKind, type Kind } from "../../resources";
import { type Account, openAccount } from "../account";
import { settingsIn } from "../provider-settings";
import { kindOf } from "../resource-types";
import type { ExportedState, PendingOperation } from "../state";
import { findLeftovers, type Leftover, type LeftoverOrigin } from "./leftovers";
import { type Choices, determineOutcome, idsIn, type Outcome, type PendingCreate, pendingCreate } from "./pending";

/** The pending operations of a stack, their outcomes, and the objects that the stack may have left in its accounts. */
export interface Survey {
  creates: (PendingCreate & Outcome)[];
  /** Pending creates of resources of other packages. */
  foreign: { urn: string }[];
  /** Pending updates, deletes and reads, which a refresh completes. */
  others: { urn: string; type: string }[];
  leftovers: Leftover[];
}

/** Looks up the objects of a stack's pending creates, and leftovers. It only reads. */
export async function survey(
  state: ExportedState,
  choices: Choices,
  notify: (text: string) => void,
  environment?: NodeJS.ProcessEnv,
): Promise<Survey> {
  const accounts = new Map<string, Account>();
  const accountOf = (provider = ""): Account => {
    const account = accounts.get(provider) ?? openAccount(settingsIn(state, provider), notify, environment);
    accounts.set(provider, account);
    return account;
  };
  const operations = state.deployment.pending_operations ?? [];
  const pendingCreates = operations.filter(({ type }) => type === "creating");
  try {
    const origins: (LeftoverOrigin & { provider: string | undefined })[] = [];
    const addOrigin = (urn: string, kind: Kind, provider: string | undefined, name?: string): void => {
      if (isObjectKind(kind)) origins.push({ urn, kind, provider, name });
    };
    const creates: Survey["creates"] = [];
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
    const leftovers: Leftover[] = [];
    for (const provider of new Set(origins.map((origin) => origin.provider))) {
      const providerOrigins = origins.filter((origin) => origin.provider === provider);
      leftovers.push(...(await findLeftovers(providerOrigins, accountOf(provider), knownIds)));
    }
    return {
      creates,
      foreign: pendingCreates.filter(({ resource }) => kindOf(resource.type) === undefined).map(urnOf),
      others: operations
        .filter(({ type }) => type !== "creating")
        .map(({ type, resource: { urn } }) => ({ urn, type })),
      // Two providers may lead to one account.
      leftovers: [
        ...new Map(
          leftovers.map((leftover) => [`${leftover.baseUrl} ${leftover.kind} ${leftover.id}`, leftover]),
        ).values(),
      ],
    };
  } finally {
    await Promise.all([...accounts.values()].map((account) => account.close()));
  }
}

const urnOf = ({ resource: { urn } }: PendingOperation): { urn: string } => ({ urn });
