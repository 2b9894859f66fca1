import type { ObjectKind } from "../../resources";
import { bareName } from "../../resources/serverless-endpoint/lifecycle";
import { isGeneratedName } from "../../verbs/urn";
import type { Account } from "../account";
import { hasName, type ObjectSummary, type PendingCreate, summaryOf } from "./pending";

/** An object of the account that nothing in the state refers to. */
export interface Leftover extends ObjectSummary {
  kind: ObjectKind;
  /** Root of the REST API of its account. */
  baseUrl: string;
}

/** A resource of the stack whose interrupted creates may have left objects. */
export type Suspect = Pick<PendingCreate, "urn" | "name"> & { kind: ObjectKind };

/**
 * Objects with a generated name of one of the resources, or with the name of its superseded pending create, that are not among
 * the known ids.
 */
export async function findLeftovers(
  suspects: readonly Suspect[],
  account: Pick<Account, "baseUrl" | "list">,
  known: ReadonlySet<string>,
): Promise<Leftover[]> {
  const found = new Map<string, Leftover>();
  for (const { urn, kind, name } of suspects) {
    const { found: objects } = await account.list(kind);
    for (const one of objects.filter(({ id }) => !known.has(id))) {
      const isLeft =
        isGeneratedName(one.name, urn) ||
        (kind === "ServerlessEndpoint" && isGeneratedName(bareName(one.name), urn)) ||
        (name !== undefined && hasName(kind, one, name));
      if (isLeft) found.set(`${kind} ${one.id}`, { kind, baseUrl: account.baseUrl, ...summaryOf(one) });
    }
  }
  return [...found.values()];
}
