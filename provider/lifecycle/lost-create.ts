import { isApiError } from "serverless-compute-api";
import type { Listing } from "./listing";
import { ExplainedError, explain, lostCreate, type Subject } from "./messages";

/** A create whose answer got lost and whose object was not found: it may exist. `doubt` says why the look proves nothing. */
export class LostCreate extends ExplainedError {
  constructor(cause: unknown, subject: Subject, doubt: string | undefined) {
    super(`${whatHappened(cause, subject)}${doubt === undefined ? "" : ` ${doubt}`}`, { cause });
  }
}

function whatHappened(cause: unknown, subject: Subject): string {
  if (!isApiError(cause)) return `${subject.label}: ${cause instanceof Error ? cause.message : cause}${lostCreate}`;
  const text = explain(cause, subject);
  if (cause.ambiguous) return text;
  return `${text}\nMost likely an earlier request of this create, whose answer got lost, made the object that has it.`;
}

/** Why a list that does not show an object does not prove that it is not there; undefined where it does. */
export function doubtOf<Found>(listing: Listing<Found>, name: string, before: ReadonlySet<string>): string | undefined {
  const length = listing.found.length + listing.unreadable.length;
  if (listing.mayBeCapped) return `The service lists ${length} objects of its kind and may have more than it lists.`;
  const suspect = listing.unreadable.find((one) => !before.has(one.id ?? "") && (one.name ?? name) === name);
  return suspect && `The service lists an object that may be it and cannot be read: ${suspect.error.message}.`;
}
