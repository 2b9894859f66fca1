import { isObjectKind, type Kind } from "../../resources";
import { type Account, openAccount } from "../account";
import { settingsIn } from "../provider-settings";
import { kindOf } from "../resource-types";
import type { ExportedState, PendingOperation } from "../state";
import { findLeftovers, type Leftover, type Suspect } from "./leftovers";
import { type Choices, idsIn, judge, type Outcome, type PendingCreate, pendingCreate } from "./pending";

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
  notice: (text: string) => void,
  environment?: NodeJS.ProcessEnv,
): Promise<Survey> {
  const accounts = new Map<string, Account>();
  const accountOf = (provider = ""): Account => {
    const account = accounts.get(provider) ?? openAccount(settingsIn(state, provider), notice, environment);
    accounts.set(provider, account);
    return account;
  };
  const operations = state.deployment.pending_operations ?? [];
  const creating = operations.filter(({ type }) => type === "creating");
  try {
    const suspects: (Suspect & { provider: string | undefined })[] = [];
    const suspect = (urn: string, kind: Kind, provider: string | undefined, name?: string): void => {
      if (isObjectKind(kind)) suspects.push({ urn, kind, provider, name });
    };
    const creates: Survey["creates"] = [];
    for (const operation of creating) {
      const kind = kindOf(operation.resource.type);
      if (kind === undefined) continue;
      const { provider } = operation.resource;
      const create = pendingCreate(operation, kind);
      const isKnown = creates.some((one) => one.urn === create.urn && one.outcome === "found");
      const outcome: Outcome = isKnown
        ? { outcome: "superseded" }
        : await judge(create, state, () => accountOf(provider), choices);
      creates.push({ ...create, ...outcome });
      suspect(create.urn, kind, provider, outcome.outcome === "superseded" ? create.name : undefined);
    }
    for (const { urn, type, provider } of state.deployment.resources ?? []) {
      const kind = kindOf(type);
      if (kind !== undefined) suspect(urn, kind, provider);
    }
    const candidates = creates.flatMap((one) =>
      one.outcome === "found" ? [one.object] : one.outcome === "candidates" ? one.objects : [],
    );
    const known = new Set([...idsIn(state), ...candidates.map(({ id }) => id)]);
    const leftovers: Leftover[] = [];
    for (const provider of new Set(suspects.map((one) => one.provider))) {
      const group = suspects.filter((one) => one.provider === provider);
      leftovers.push(...(await findLeftovers(group, accountOf(provider), known)));
    }
    return {
      creates,
      foreign: creating.filter(({ resource }) => kindOf(resource.type) === undefined).map(urnOf),
      others: operations
        .filter(({ type }) => type !== "creating")
        .map(({ type, resource: { urn } }) => ({ urn, type })),
      // Two providers may lead to one account.
      leftovers: [...new Map(leftovers.map((one) => [`${one.baseUrl} ${one.kind} ${one.id}`, one])).values()],
    };
  } finally {
    await Promise.all([...accounts.values()].map((account) => account.close()));
  }
}

const urnOf = ({ resource: { urn } }: PendingOperation): { urn: string } => ({ urn });
