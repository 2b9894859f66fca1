import { objectKindNames } from "../../resources";
import type { Account } from "../account";
import type { AccountObject } from "./program";
import type { Skipped } from "./report";

/** An object as a list shows it; an unreadable one may lack its id and name. */
type ListedObject = Omit<Skipped, "reason">;

/** Reads the selected objects of an account. Objects that no program can have are skipped, with the reason. */
export async function readObjects(
  account: Account,
  isSelected: (object: ListedObject) => boolean,
  notify: (text: string) => void,
): Promise<{ objects: AccountObject[]; skipped: Skipped[] }> {
  const objects: AccountObject[] = [];
  const skipped: Skipped[] = [];
  for (const kind of objectKindNames) {
    const { objects: listed, unreadable } = await account.listImports(kind);
    notify(`${kind}: ${listed.length} in the account`);
    for (const { id, name, error } of unreadable)
      if (isSelected({ kind, id, name })) skipped.push({ kind, id, name, reason: error.message });
    for (const { id, name, inputs } of listed.filter((object) => isSelected({ kind, ...object }))) {
      const [reason] = account.invalidReasons(kind, inputs);
      if (reason === undefined) objects.push({ kind, id, name, inputs });
      else skipped.push({ kind, id, name, reason });
    }
  }
  return { objects, skipped };
}
