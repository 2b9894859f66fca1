import { uncertaintyOf } from "../../framework/create/create-once";
import type { NamedObject } from "../../framework/definition";
import { hasName } from "../../framework/names";
import { isGeneratedName, parseUrn } from "../../framework/urn";
import { isObjectKind, type Kind, objectKinds } from "../../resources";
import type { Account } from "../account";
import type { ExportedState, PendingOperation, StateResource } from "../state";

/** The outcome of one pending create. */
export type Outcome =
  /** The object exists, and can only be the one that this create made. */
  | { outcome: "found"; object: NamedObject }
  /** Objects have the name, but may belong to others: the program sets the name, or several objects have it. */
  | { outcome: "candidates"; objects: NamedObject[] }
  /** No object has the name: the create did not reach the service. */
  | { outcome: "absent" }
  /** The state already has the resource: an object of this create is an orphan. */
  | { outcome: "superseded" }
  /** A JobInvoke is a run, and not an object. */
  | { outcome: "run" }
  /** The account does not show whether the object exists. */
  | { outcome: "unclear"; reason: string };

/** A pending create of one of our resources. */
export interface PendingCreate {
  urn: string;
  kind: Kind;
  /** Name of the resource in the program. */
  resource: string;
  /** Name of the object; undefined if it is secret. */
  name: string | undefined;
}

/** The user's decisions about `candidates`: ids to import, and ids of unmanaged objects. */
export interface Choices {
  import: readonly string[];
  ignore: readonly string[];
}

/** A pending operation as a create of ours. */
export function pendingCreate({ resource }: PendingOperation, kind: Kind): PendingCreate {
  const name = resource.inputs?.["name"];
  const { urn } = resource;
  return { urn, kind, resource: parseUrn(urn).name, name: typeof name === "string" ? name : undefined };
}

/** An object's properties that all kinds have. */
export const summaryOf = ({ id, name, createdAt }: NamedObject): NamedObject => ({
  id,
  name,
  ...(createdAt === undefined ? {} : { createdAt }),
});

/** Returns true if the state contains a resource with the URN that is not pending deletion. */
const isInState = (urn: string, state: ExportedState): boolean =>
  (state.deployment.resources ?? []).some(
    (resource: StateResource) => resource.urn === urn && !resource.delete && !resource.pendingReplacement,
  );

/** Ids of all objects that the state refers to. */
export const idsIn = (state: ExportedState): ReadonlySet<string> =>
  new Set((state.deployment.resources ?? []).flatMap(({ id }) => id ?? []));

/** Determines the outcome of a pending create. */
export async function determineOutcome(
  create: PendingCreate,
  state: ExportedState,
  account: () => Account,
  choices: Choices,
): Promise<Outcome> {
  const { urn, kind, name } = create;
  if (!isObjectKind(kind)) return { outcome: "run" };
  if (isInState(urn, state)) return { outcome: "superseded" };
  if (name === undefined) return { outcome: "unclear", reason: "Its name is secret." };
  const listing = await account().list(kind);
  const knownIds = idsIn(state);
  const objects = listing.objects
    .filter(
      (object) =>
        hasName(objectKinds[kind], object, name) && !knownIds.has(object.id) && !choices.ignore.includes(object.id),
    )
    .map(summaryOf);
  const chosenObjects = objects.filter(({ id }) => choices.import.includes(id));
  const [object, ...otherObjects] = chosenObjects.length > 0 ? chosenObjects : objects;
  if (!object) {
    const reason = uncertaintyOf(listing, name);
    return reason === undefined ? { outcome: "absent" } : { outcome: "unclear", reason };
  }
  const isCertain = chosenObjects.length > 0 || isGeneratedName(name, urn);
  return isCertain && otherObjects.length === 0 ? { outcome: "found", object } : { outcome: "candidates", objects };
}
