import { type CallOptions, type Clients, isApiError } from "serverless-compute-api";
import { callOptions, isOver, making, sharedCallOptions, tidyingOptions, whileAllowed } from "../calls";
import { type Context, PartialFailure } from "../contract";
import { type Listing, listAll } from "../listing";
import { ExplainedError, explain, lostCreate, type Subject } from "../messages";
import { agrees } from "../properties/diff";
import { adopt } from "./adoption";
import { type Creation, type Findable, listed, type Named } from "./creation";

/** Waits before the lookups after a lost response, ms; a slow service lists a new object late. */
const lookups = [0, 500, 2000];

/** Maximum number of requests for one create. */
const attempts = 3;

/** Result of a lookup. `doubt` is the reason why an empty result does not prove that nothing was created. */
interface Seen<Found> {
  ours: Found[];
  ids: ReadonlySet<string>;
  doubt: string | undefined;
}

/** Looks up the object of a create whose response was lost. */
type Lookup<Found> = (options: CallOptions) => Promise<Seen<Found>>;

/**
 * Creates one object and returns its id, even if responses are lost: the object is looked up before the request is sent again.
 * A generated name identifies the object. An object with a name of the program counts as ours if it also has our inputs and
 * did not exist before; this takes one list request per kind and process.
 */
export async function createOnce<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  context: Context,
): Promise<{ id: string; outputs: Outputs }> {
  const { kind, inputs, shape, rules, actual } = creation;
  if (context.hasUniqueName) return createOrFind(creation, new Set(), () => true, context);
  return inTurn(context.clients, `${kind} ${inputs.name}`, async () => {
    const adopted = inputs.adoptExisting ? await adopt(creation, context) : undefined;
    if (adopted) return adopted;
    const before = await whileAllowed(existingBefore(creation, context), context.signal);
    const isNew = (one: Found): boolean =>
      !before.has(one.id) && !context.held.has(one.id) && agrees(shape, actual(one), inputs, rules);
    return createOrFind(creation, before, isNew, context);
  });
}

async function createOrFind<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  before: ReadonlySet<string>,
  isOurs: (one: Found) => boolean,
  context: Context,
): Promise<{ id: string; outputs: Outputs }> {
  const { kind, inputs, remove } = creation;
  const lookup: Lookup<Found> = async (options) => {
    const listing = await listAll(creation.listNamed, options);
    return {
      ours: listing.found.filter((one) => one.name === inputs.name && isOurs(one)),
      ids: new Set(listing.found.map(({ id }) => id)),
      doubt: doubtOf(listing, inputs.name, before),
    };
  };
  const { made, sent } = await sendUntilKnown(creation, lookup, context);
  context.held.set(made.id, "state");
  if (sent > 1 && remove) {
    const duplicates = (await findDuplicates(made, lookup, context)).filter(({ id }) => id !== made.id);
    if (context.hasUniqueName) await removeDuplicates(remove, made, duplicates, context);
    else if (duplicates.length > 0) context.warn(possibleDuplicates(kind, inputs.name, duplicates));
  }
  return { id: made.id, outputs: creation.outputs(made) };
}

async function sendUntilKnown<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  lookup: Lookup<Found>,
  context: Context,
): Promise<{ made: Found; sent: number }> {
  const { kind, inputs, send, remove } = creation;
  const subject = { label: `${kind} "${inputs.name}"`, verb: "create" } as const;
  for (let sent = 1; ; sent++) {
    let cutOff = false;
    const onCutOff = (): void => {
      cutOff = true;
    };
    try {
      return { made: await making(context, send, onCutOff), sent };
    } catch (error) {
      if (!cutOff && !isApiError(error)) throw error;
      // A name that is taken at the second attempt was most likely taken by the first.
      const second = sent > 1 && isApiError(error) && error.code === "duplicate_name";
      const ambiguous = cutOff || (isApiError(error) && error.ambiguous);
      if (!ambiguous && !second) throw error;
      context.progress("the response was lost; checking whether the service created it");
      const { ours, doubt } = await lookUp(lookup, context).catch(
        // Report the failure of the create, not of the lookup.
        (): Seen<Found> => ({ ours: [], ids: new Set(), doubt: "The lookup failed." }),
      );
      const [made, ...others] = ours;
      if (others.length > 0 && !context.hasUniqueName)
        throw new LostCreate(
          error,
          subject,
          `${listed(ours)} have its name and inputs; only one of them was created for it.`,
        );
      if (made) return { made, sent };
      const { aborted, reason } = context.signal;
      if (isOver(context)) throw new LostCreate(aborted ? reason : error, subject, doubt);
      if (second || !isApiError(error)) throw new LostCreate(error, subject, doubt);
      // If names are unique, a second request cannot create a duplicate.
      const safe = doubt === undefined || !remove;
      if (!safe || !error.retryable || sent === attempts) throw new LostCreate(error, subject, doubt);
    }
  }
}

/** Looks up several times; after a cancellation or the verb's timeout, once more. */
async function lookUp<Found>(lookup: Lookup<Found>, context: Context): Promise<Seen<Found>> {
  const { clock, signal } = context;
  try {
    for (const wait of lookups) {
      await clock.sleep(wait, signal);
      const seen = await lookup(callOptions(context));
      if (seen.ours.length > 0 || wait === lookups.at(-1)) return seen;
    }
  } catch (error) {
    if (!isOver(context)) throw error;
  }
  return lookup(tidyingOptions(context));
}

const unfinished = (made: Findable, text: string, left: string[], cause: unknown): PartialFailure =>
  new PartialFailure(`it was created, but ${text}`, made.id, left.length > 0 ? { duplicates: left } : {}, { cause });

/** Objects that earlier attempts created although their responses were lost; one that arrived late shows up only now. */
async function findDuplicates<Found extends Findable>(
  made: Found,
  lookup: Lookup<Found>,
  context: Context,
): Promise<Found[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { ours, ids, doubt } = await lookup(callOptions(context));
      // A list that contains the newest object is not capped before it.
      if (doubt !== undefined && !ids.has(made.id)) throw new Error(doubt);
      return ours;
    } catch (cause) {
      const text = `a lost request may have created a duplicate named "${made.name}"; delete it if it exists`;
      if (attempt === attempts || context.signal.aborted) throw unfinished(made, text, [], cause);
    }
  }
}

/** Deletes duplicates. Those that cannot be deleted are kept in state as `duplicates` for the next deployment. */
async function removeDuplicates(
  remove: (id: string, options: CallOptions) => Promise<void>,
  made: Findable,
  duplicates: Findable[],
  context: Context,
): Promise<void> {
  for (const [index, duplicate] of duplicates.entries()) {
    try {
      await remove(duplicate.id, callOptions(context));
    } catch (cause) {
      const left = duplicates.slice(index).map(({ id }) => id);
      const text = `a lost request created a duplicate (${left.join(", ")}) that could not be deleted; the next deployment tries again`;
      throw unfinished(made, text, left, cause);
    }
  }
}

const possibleDuplicates = (kind: string, name: string, found: readonly Findable[]): string =>
  `another ${kind} named "${name}" was created at the same time (${listed(found)}), by a lost request of this create or by ` +
  "another deployment; delete it unless it is in use";

/** A create whose response was lost and whose object was not found, so that it may exist. */
class LostCreate extends ExplainedError {
  constructor(cause: unknown, subject: Subject, doubt: string | undefined) {
    super(`${whatHappened(cause, subject)}${doubt === undefined ? "" : ` ${doubt}`}`, { cause });
  }
}

function whatHappened(cause: unknown, subject: Subject): string {
  if (!isApiError(cause)) return `${subject.label}: ${cause instanceof Error ? cause.message : cause}${lostCreate}`;
  const text = explain(cause, subject);
  if (cause.ambiguous) return text;
  return `${text}\nAn earlier request of this create, whose response was lost, most likely created the object with this name.`;
}

/**
 * The reason why a list without an object does not prove that it does not exist; undefined if it does. `before` has the ids
 * that existed before the create.
 */
export function doubtOf<Found>(
  listing: Listing<Found>,
  name: string,
  before: ReadonlySet<string> = new Set(),
): string | undefined {
  const length = listing.found.length + listing.unreadable.length;
  if (listing.mayBeCapped) return `The service lists ${length} objects of this kind and may have more.`;
  const suspect = listing.unreadable.find((one) => !before.has(one.id ?? "") && (one.name ?? name) === name);
  return suspect && `The service lists an unreadable object that may be the created one: ${suspect.error.message}.`;
}

/** Creates of one process whose names the program sets. */
interface NamedCreates {
  /** Ids of each kind before the first of them. */
  before: Map<string, Promise<ReadonlySet<string>>>;
  /** The last create of each kind and name: creates of the same name run one after the other. */
  turns: Map<string, Promise<unknown>>;
}

const namedCreates = new WeakMap<Clients, NamedCreates>();

function namedCreatesOf(clients: Clients): NamedCreates {
  const known = namedCreates.get(clients) ?? { before: new Map(), turns: new Map() };
  namedCreates.set(clients, known);
  return known;
}

/** Ids of the objects of a kind that existed before this process created its first one. */
function existingBefore<Inputs extends Named, Outputs extends object, Found extends Findable>(
  { kind, list }: Creation<Inputs, Outputs, Found>,
  context: Context,
): Promise<ReadonlySet<string>> {
  const { before } = namedCreatesOf(context.clients);
  const known = before.get(kind);
  if (known) return known;
  const found = listAll(list, sharedCallOptions(context)).then(
    ({ found: all, unreadable }) => new Set([...all, ...unreadable].flatMap(({ id }) => id ?? [])),
  );
  before.set(kind, found);
  // A failed list fails the creates that waited for it; the next create lists again.
  found.catch(() => before.delete(kind));
  return found;
}

function inTurn<Result>(clients: Clients, key: string, work: () => Promise<Result>): Promise<Result> {
  const { turns } = namedCreatesOf(clients);
  const result = (turns.get(key) ?? Promise.resolve()).then(work);
  turns.set(
    key,
    result.catch(() => undefined),
  );
  return result;
}
