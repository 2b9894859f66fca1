import { type CallOptions, isApiError } from "serverless-compute-api";
import { callOptions, isOver, making, tidyingOptions, whileAllowed } from "../calls";
import { type Context, PartialFailure } from "../contract";
import { type Listing, listAll } from "../listing";
import { ExplainedError, explain, lostCreate, type Subject } from "../messages";
import { agrees } from "../properties/diff";
import { takeOver } from "./adoption";
import { type Creation, existingBefore, type Findable, hasOwnName, listed, type Named } from "./creation";
import { inTurn, ledgerOf } from "./ledger";

/** Milliseconds before each look for what a lost response may have made: a slow service needs a moment to show it. */
const looks = [0, 500, 2000];

/** Times that one create is sent at most. */
const rounds = 3;

/** What a look for our object found; `doubt` says why nothing found does not prove that nothing was made. */
interface Seen<Found> {
  ours: Found[];
  /** Ids of all that the list shows. */
  ids: ReadonlySet<string>;
  doubt: string | undefined;
}

/** Looks for what a create made although no response said so. */
type Look<Found> = (options: CallOptions) => Promise<Seen<Found>>;

/**
 * Makes one object and knows its id, also when responses get lost: what may have been made is looked for before anything
 * is sent again. An object is ours when it has our name and inputs, was not there before this process made its first
 * one of that kind, and no other create has it. That rule needs no clock and no creation time, which not every record
 * has; it costs one list call per kind and process.
 */
export async function createOnce<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  context: Context,
): Promise<{ id: string; outputs: Outputs }> {
  const ledger = ledgerOf(context.clients);
  const { kind, inputs, shape, rules, actual, remove } = creation;
  return inTurn(ledger, `${kind} ${inputs.name}`, async () => {
    const before = await whileAllowed(existingBefore(creation, ledger, context), context.signal);
    const adopted = await takeOver(creation, before, ledger, context);
    if (adopted) return adopted;
    const old = new Set(before.map(({ id }) => id));
    const isOurs = (one: Found): boolean =>
      one.name === inputs.name &&
      !old.has(one.id) &&
      !ledger.claimed.has(one.id) &&
      agrees(shape, actual(one), inputs, rules);
    const look: Look<Found> = async (options) => {
      const listing = await listAll(creation.listNamed, options);
      const ids = new Set(listing.found.map(({ id }) => id));
      return { ours: listing.found.filter(isOurs), ids, doubt: doubtOf(listing, inputs.name, old) };
    };
    const { made, sent } = await sendUntilKnown(creation, look, context);
    ledger.claimed.add(made.id);
    if (sent > 1 && remove) {
      const duplicates = await findDuplicates(made, look, context);
      if (hasOwnName(creation, context)) await removeDuplicates(remove, made, duplicates, context);
      else if (duplicates.length > 0) context.warn(possibleDuplicates(kind, inputs.name, duplicates));
    }
    return { id: made.id, outputs: creation.outputs(made) };
  });
}

async function sendUntilKnown<Inputs extends Named, Outputs extends object, Found extends Findable>(
  creation: Creation<Inputs, Outputs, Found>,
  look: Look<Found>,
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
      // A name that is taken on the second try is most likely taken by the first one.
      const second = sent > 1 && isApiError(error) && error.code === "duplicate_name";
      const ambiguous = cutOff || (isApiError(error) && error.ambiguous);
      if (!ambiguous && !second) throw error;
      context.progress("the response was lost; checking whether the service created it");
      const { ours, doubt } = await lookFor(look, context).catch(
        // The failed look is not the failure to report, but it proves nothing.
        (): Seen<Found> => ({ ours: [], ids: new Set(), doubt: "It could not be looked up." }),
      );
      const [made, ...others] = ours;
      if (others.length > 0 && !hasOwnName(creation, context))
        throw new LostCreate(
          error,
          subject,
          `The service lists ${listed(ours)}: one is it, the others may be another deployment's.`,
        );
      if (made) return { made, sent };
      const { aborted, reason } = context.signal;
      if (isOver(context)) throw new LostCreate(aborted ? reason : error, subject, doubt);
      if (second || !isApiError(error)) throw new LostCreate(error, subject, doubt);
      // Where names are unique, sending it again makes no second one, whatever became of the first.
      const safe = doubt === undefined || !remove;
      if (!safe || !error.retryable || sent === rounds) throw new LostCreate(error, subject, doubt);
    }
  }
}

/** Looks several times; after a cancellation, or at the end of the verb's time, once more, for what was made must not be left behind. */
async function lookFor<Found>(look: Look<Found>, context: Context): Promise<Seen<Found>> {
  const { clock, signal } = context;
  try {
    for (const wait of looks) {
      await clock.sleep(wait, signal);
      const seen = await look(callOptions(context));
      if (seen.ours.length > 0 || wait === looks.at(-1)) return seen;
    }
  } catch (error) {
    if (!isOver(context)) throw error;
  }
  return look(tidyingOptions(context));
}

const unfinished = (made: Findable, text: string, left: string[], cause: unknown): PartialFailure =>
  new PartialFailure(`it was created, but ${text}`, made.id, left.length > 0 ? { duplicates: left } : {}, { cause });

/** What a create made that was sent more than once, beside the one that is known: the first one may have been slow only. */
async function findDuplicates<Found extends Findable>(
  made: Found,
  look: Look<Found>,
  context: Context,
): Promise<Found[]> {
  for (let tried = 1; ; tried++) {
    try {
      const { ours, ids, doubt } = await look(callOptions(context));
      // A list that shows what was made last is not cut off before it.
      if (doubt !== undefined && !ids.has(made.id)) throw new Error(doubt);
      return ours;
    } catch (cause) {
      const text = `a lost request may have created a duplicate named "${made.name}": look for it and delete it by hand`;
      if (tried === rounds || context.signal.aborted) throw unfinished(made, text, [], cause);
    }
  }
}

/** Duplicates that cannot be deleted now are kept in state, as `duplicates`, for the next deployment. */
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

/** A name that a program sets may be another deployment's too, whose object must not go. */
const possibleDuplicates = (kind: string, name: string, found: readonly Findable[]): string =>
  `another ${kind} named "${name}" was created at the same time (${listed(found)}): by a request of this create whose ` +
  "response was lost, or by another deployment. Delete it unless it is in use.";

/** A create whose response was lost and whose object was not found: it may exist. `doubt` says why the look proves nothing. */
class LostCreate extends ExplainedError {
  constructor(cause: unknown, subject: Subject, doubt: string | undefined) {
    super(`${whatHappened(cause, subject)}${doubt === undefined ? "" : ` ${doubt}`}`, { cause });
  }
}

function whatHappened(cause: unknown, subject: Subject): string {
  if (!isApiError(cause)) return `${subject.label}: ${cause instanceof Error ? cause.message : cause}${lostCreate}`;
  const text = explain(cause, subject);
  if (cause.ambiguous) return text;
  return `${text}\nMost likely an earlier request of this create, whose response was lost, created the object that has it.`;
}

/** Why a list that does not show an object does not prove that it is not there; undefined where it does. */
function doubtOf<Found>(listing: Listing<Found>, name: string, before: ReadonlySet<string>): string | undefined {
  const length = listing.found.length + listing.unreadable.length;
  if (listing.mayBeCapped) return `The service lists ${length} objects of its kind and may have more than it lists.`;
  const suspect = listing.unreadable.find((one) => !before.has(one.id ?? "") && (one.name ?? name) === name);
  return suspect && `The service lists an object that may be it and cannot be read: ${suspect.error.message}.`;
}
