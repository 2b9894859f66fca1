import { type CallOptions, isApiError, untilAborted } from "serverless-compute-api";
import { optionsOf } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { messageOf } from "../../engine/error-text";
import { type Properties, toProperties } from "../../engine/values";
import { callOptions, cleanupCallOptions, completeDespiteCancel, isCancelledOrExpired } from "../calls";
import type { Context } from "../contract";
import { type Created, idList, type NamedInputs, type NamedObject, type ObjectDefinition } from "../definition";
import { deleteObject } from "../deletion";
import { ResourceInitError, UserError } from "../errors";
import { helpForCall } from "../help";
import { type Listing, listAll } from "../lists";
import { type ErrorContext, explain, lostCreateAdvice } from "../messages";
import { hasName } from "../names";
import { outputsOf } from "../observation";
import { addOwner, idOwnedBy } from "../owners";
import { nameSourceOf } from "../properties/defaults";
import { matchesInputs } from "../properties/diff";
import { usesServiceDefault } from "../properties/schema";
import { adopt } from "./adoption";
import { existingIdsBefore, runSerialized } from "./named-creates";

/** Waits before the lookups after a lost response, ms; a slow service lists a new object late. */
const lookupDelays = [0, 500, 2000];

/** Maximum number of requests for one create. */
const maxAttempts = 3;

/** Result of a lookup. `uncertainty` is the reason why an empty result does not prove that nothing was created. */
interface LookupResult<ApiObject> {
  matches: ApiObject[];
  ids: ReadonlySet<string>;
  uncertainty: string | undefined;
}

type Lookup<ApiObject> = (options: CallOptions) => Promise<LookupResult<ApiObject>>;

/** A create of one object. */
interface Create<ApiObject extends NamedObject> {
  kind: string;
  name: string;
  /** True if the name was generated, so that no other object has it. */
  hasUniqueName: boolean;
  context: Context;
  send(options: CallOptions): Promise<ApiObject>;
  /** Looks up the object of a create whose response was lost. */
  lookup: Lookup<ApiObject>;
  /** True if the service may have several objects of one name, so that a repeated request can create a duplicate. */
  allowsDuplicates: boolean;
}

/**
 * Creates the object of a resource once, even if responses are lost: the object is looked up before the request is sent again. A
 * generated name identifies the object. An object with a name of the program counts as created by this create if it also has the
 * same inputs and did not exist before; this requires one list request per kind and deployment. With `adoptExisting`, an existing
 * object is updated instead. An error hook of the program can repeat a create, which then continues with the object that it left.
 * `properties` are the checked inputs with their list of omitted properties.
 */
export async function createOnce<Inputs extends NamedInputs, ApiObject extends NamedObject>(
  definition: ObjectDefinition<ApiObject, Inputs>,
  inputs: Inputs,
  properties: Properties,
  context: Context,
): Promise<Created> {
  const { kind } = definition;
  const shape: z.ZodObject = definition.inputs;
  const create = { inputs, properties, context };
  const ownId = idOwnedBy(context.owners, context.urn);
  if (nameSourceOf(properties) === "random" && ownId === undefined)
    return createOrFind(definition, create, new Set(), () => true);
  return runSerialized(context, `${kind} ${inputs.name}`, async () => {
    const adopts = inputs.adoptExisting === true || ownId !== undefined;
    const adopted = adopts ? await adopt(definition, inputs, properties, context, ownId) : undefined;
    if (adopted) return adopted;
    const { list } = definition.client(context.clients.management);
    const existingIds = await untilAborted(existingIdsBefore({ kind, list }, context), context.signal);
    const desired = toProperties(inputs);
    const isNew = (object: ApiObject): boolean => {
      if (existingIds.has(object.id) || context.owners.has(object.id)) return false;
      const observed = Object.entries(definition.observe(object, desired, context).inputs).filter(([key]) => {
        // A property that the program leaves to the service agrees with any value.
        const schema = shape.shape[key];
        return !schema || !usesServiceDefault(schema, desired[key]);
      });
      return matchesInputs(shape, Object.fromEntries(observed), inputs, context.clients.dialect);
    };
    return createOrFind(definition, create, existingIds, isNew);
  });
}

async function createOrFind<Inputs extends NamedInputs, ApiObject extends NamedObject>(
  definition: ObjectDefinition<ApiObject, Inputs>,
  { inputs, properties, context }: { inputs: Inputs; properties: Properties; context: Context },
  existingIds: ReadonlySet<string>,
  isMatch: (object: ApiObject) => boolean,
): Promise<Created> {
  const { kind } = definition;
  const { name } = inputs;
  const hasUniqueName = nameSourceOf(properties) === "random";
  const allowsDuplicates = optionsOf(definition.inputs.shape.name).unique !== true;
  const lookup: Lookup<ApiObject> = async (options) => {
    const listing = await listAll(definition.client(context.clients.management).list, options);
    return {
      matches: listing.objects.filter((object) => hasName(definition, object, name) && isMatch(object)),
      ids: new Set(listing.objects.map(({ id }) => id)),
      uncertainty: uncertaintyOf(listing, name, existingIds),
    };
  };
  const send = (options: CallOptions) => definition.client(context.clients.management).create(inputs, options);
  const create = { kind, name, hasUniqueName, context, send, lookup, allowsDuplicates };
  const { created, attempt, matches } = await createWithRetries(create);
  addOwner(context.owners, created.id, context.urn);
  if (allowsDuplicates) {
    const candidates = attempt > 1 ? await findDuplicates(created, lookup, context) : matches;
    const duplicates = candidates.filter(({ id }) => id !== created.id);
    if (hasUniqueName) await removeDuplicates(definition, created, duplicates, context);
    else if (duplicates.length > 0) context.warn(possibleDuplicatesWarning(kind, name, duplicates));
  }
  return { id: created.id, outputs: outputsOf(definition, created, properties, context) };
}

async function createWithRetries<ApiObject extends NamedObject>(
  create: Create<ApiObject>,
): Promise<{ created: ApiObject; attempt: number; matches: ApiObject[] }> {
  const { kind, name, hasUniqueName, context, send, lookup, allowsDuplicates } = create;
  const subject = { label: `${kind} "${name}"`, operation: "create", names: context.settings.names } as const;
  for (let attempt = 1; ; attempt++) {
    let responseLost = false;
    const onResponseLost = (): void => {
      responseLost = true;
    };
    try {
      return { created: await completeDespiteCancel(context, send, onResponseLost), attempt, matches: [] };
    } catch (error) {
      if (!responseLost && !isApiError(error)) throw error;
      // Another request of this create has taken the name: an earlier attempt, or one that a gateway repeated.
      const isOwnConflict = (attempt > 1 || hasUniqueName) && isApiError(error, "conflict");
      const ambiguous = responseLost || (isApiError(error) && error.ambiguous);
      if (!ambiguous && !isOwnConflict) throw error;
      const problem = isOwnConflict ? "the name is taken" : "the response was lost";
      context.progress(`${problem}; checking whether the service created it`);
      const { matches, uncertainty } = await lookUpWithRetries(lookup, context).catch(
        // Report the failure of the create, not of the lookup.
        (): LookupResult<ApiObject> => ({ matches: [], ids: new Set(), uncertainty: "The lookup failed." }),
      );
      const [created, ...duplicates] = matches;
      if (duplicates.length > 0 && !hasUniqueName)
        throw lostCreate(
          error,
          subject,
          `${idList(matches)} have its name and inputs; only one of them was created for it.`,
        );
      if (created) return { created, attempt, matches };
      const { aborted, reason } = context.signal;
      if (isCancelledOrExpired(context)) throw lostCreate(aborted ? reason : error, subject, uncertainty);
      if (isOwnConflict && hasUniqueName) throw lostCreate(error, subject, uncertainty, true);
      if (isOwnConflict || !isApiError(error)) throw lostCreate(error, subject, uncertainty);
      // If names are unique, a second request cannot create a duplicate.
      const isSafeToRetry = uncertainty === undefined || !allowsDuplicates;
      if (!isSafeToRetry || !error.retryable || attempt === maxAttempts) throw lostCreate(error, subject, uncertainty);
    }
  }
}

/** Looks up several times; after a cancellation or the operation's timeout, once more. */
async function lookUpWithRetries<ApiObject>(
  lookup: Lookup<ApiObject>,
  context: Context,
): Promise<LookupResult<ApiObject>> {
  const { clock, signal } = context;
  try {
    for (const delay of lookupDelays) {
      await clock.sleep(delay, signal);
      const result = await lookup(callOptions(context));
      if (result.matches.length > 0 || delay === lookupDelays.at(-1)) return result;
    }
  } catch (error) {
    if (!isCancelledOrExpired(context)) throw error;
  }
  return lookup(cleanupCallOptions(context));
}

const unfinishedCreate = (
  created: NamedObject,
  problem: string,
  remaining: string[],
  cause: unknown,
): ResourceInitError =>
  new ResourceInitError(
    `it was created, but ${problem}`,
    created.id,
    remaining.length > 0 ? { duplicates: remaining } : {},
    { cause },
  );

/** Objects that earlier attempts created although their responses were lost; one that arrived late shows up only now. */
async function findDuplicates<ApiObject extends NamedObject>(
  created: ApiObject,
  lookup: Lookup<ApiObject>,
  context: Context,
): Promise<ApiObject[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { matches, ids, uncertainty } = await lookup(callOptions(context));
      // A list that contains the newest object is not capped before it.
      if (uncertainty !== undefined && !ids.has(created.id)) throw new Error(uncertainty);
      return matches;
    } catch (cause) {
      const problem = `a lost request may have created a duplicate named "${created.name}"; delete it if it exists`;
      if (attempt === maxAttempts || context.signal.aborted) throw unfinishedCreate(created, problem, [], cause);
    }
  }
}

/** Deletes duplicates. Those that cannot be deleted are kept in state as `duplicates` for the next deployment. */
async function removeDuplicates<ApiObject extends NamedObject>(
  definition: ObjectDefinition<ApiObject>,
  created: NamedObject,
  duplicates: NamedObject[],
  context: Context,
): Promise<void> {
  for (const [index, duplicate] of duplicates.entries()) {
    try {
      await deleteObject(definition, duplicate.id, context);
    } catch (cause) {
      const remaining = duplicates.slice(index).map(({ id }) => id);
      const problem = `a lost request created a duplicate (${remaining.join(", ")}) that could not be deleted; the next deployment tries again`;
      throw unfinishedCreate(created, problem, remaining, cause);
    }
  }
}

const possibleDuplicatesWarning = (kind: string, name: string, duplicates: readonly NamedObject[]): string =>
  `another ${kind} named "${name}" was created at the same time (${idList(duplicates)}), by a lost request of this create or by ` +
  "another deployment; delete it unless it is in use";

/** Returns the failure of a create whose response was lost and whose object was not found, so that it may exist. */
const lostCreate = (
  cause: unknown,
  subject: ErrorContext,
  uncertainty: string | undefined,
  isGeneratedNameTaken = false,
): UserError =>
  new UserError(
    `${describeFailure(cause, subject, isGeneratedNameTaken)}${uncertainty === undefined ? "" : ` ${uncertainty}`}`,
    { cause, help: isApiError(cause) && !isGeneratedNameTaken ? helpForCall(cause) : undefined },
  );

function describeFailure(cause: unknown, subject: ErrorContext, isGeneratedNameTaken: boolean): string {
  const text = messageOf(cause);
  if (!isApiError(cause)) return `${subject.label}: ${text}${lostCreateAdvice}`;
  if (isGeneratedNameTaken)
    return `${subject.label}: the service reports that the generated name is taken (${text}), but lists no object with it.${lostCreateAdvice}`;
  const explanation = explain(cause, subject);
  if (cause.ambiguous) return explanation;
  return `${explanation}\nAn earlier request of this create, whose response was lost, most likely created the object with this name.`;
}

/**
 * The reason why a list without an object does not prove that it does not exist; undefined if it does. `existingIds` has the ids
 * that existed before the create.
 */
export function uncertaintyOf<ApiObject>(
  listing: Listing<ApiObject>,
  name: string,
  existingIds: ReadonlySet<string> = new Set(),
): string | undefined {
  const length = listing.objects.length + listing.unreadable.length;
  if (listing.mayBeCapped) return `The service lists ${length} objects of this kind and may have more.`;
  const candidate = listing.unreadable.find(
    (object) => !existingIds.has(object.id ?? "") && (object.name ?? name) === name,
  );
  return candidate && `The service lists an unreadable object that may be the created one: ${candidate.error.message}.`;
}
