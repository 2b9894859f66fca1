import { objectKindNames } from "../../resources";
import type { Account } from "../account";
import type { AccountObject } from "./program";
import type { Skipped } from "./report";

/** An object as a list shows it; an unreadable one may lack its id and name. */
export type ListedObject = Omit<Skipped, "reason">;

/** An endpoint that was created with an image of its own has no template, which the resource requires. */
const noTemplateReason =
  "no template of the account has the settings of its workers; create one with the same image, disk, arguments, ports, " +
  "environment and registry credentials, then run the command again";

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
      const lacksTemplate = kind === "ServerlessEndpoint" && inputs["templateId"] === undefined;
      const [reason] = lacksTemplate ? [noTemplateReason] : account.invalidReasons(kind, inputs);
      if (reason === undefined) objects.push({ kind, id, name, inputs });
      else skipped.push({ kind, id, name, reason });
    }
  }
  return { objects, skipped };
}
