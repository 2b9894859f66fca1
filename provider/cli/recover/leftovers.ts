import type { NamedObject } from "../../lifecycle/create/creation";
import type { ObjectKind } from "../../resources";
import { bareName } from "../../resources/serverless-endpoint/record";
import { isGeneratedName } from "../../verbs/urn";
import type { Account } from "../account";
import { hasName, type PendingCreate, summaryOf } from "./pending";

/** An object of the account that nothing in the state refers to. */
export interface Leftover extends NamedObject {
  kind: ObjectKind;
  /** Root of the REST API of its account. */
  baseUrl: string;
}

/** A resource of the stack whose interrupted creates may have left objects. */
export type LeftoverOrigin = Pick<PendingCreate, "urn" | "name"> & { kind: ObjectKind };

/**
 * Objects with a generated name of one of the resources, or with the name of its superseded pending create, that are not among
 * the known ids.
 */
export async function findLeftovers(
  origins: readonly LeftoverOrigin[],
  account: Pick<Account, "baseUrl" | "list">,
  knownIds: ReadonlySet<string>,
): Promise<Leftover[]> {
  const leftovers = new Map<string, Leftover>();
  for (const { urn, kind, name } of origins) {
    const { objects } = await account.list(kind);
    for (const object of objects.filter(({ id }) => !knownIds.has(id))) {
      const isLeftover =
        isGeneratedName(object.name, urn) ||
        (kind === "ServerlessEndpoint" && isGeneratedName(bareName(object.name), urn)) ||
        (name !== undefined && hasName(kind, object, name));
      if (isLeftover) leftovers.set(`${kind} ${object.id}`, { kind, baseUrl: account.baseUrl, ...summaryOf(object) });
    }
  }
  return [...leftovers.values()];
}
