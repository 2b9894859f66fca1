import type { CallOptions, UnreadableElement } from "serverless-compute-api";

/** Requests all objects of one kind. */
export type List<Found> = (options: CallOptions) => Promise<Found[]>;

/** Contents of a list, and the reason why it cannot prove that an object does not exist. */
export interface Listing<Found> {
  found: Found[];
  /** Elements that do not fit the shape of their kind. */
  unreadable: UnreadableElement[];
  /** True if the service may have more than it lists. */
  mayBeCapped: boolean;
}

/**
 * Services cap their lists at round numbers, for example 400, and show the oldest objects without reporting the cap. So a
 * list of such a length may be capped.
 */
const mayBeCap = (length: number): boolean => length > 0 && (length % 50 === 0 || length % 64 === 0);

/** Requests a list; an unreadable object does not affect the others. */
export async function listAll<Found>(list: List<Found>, options: CallOptions): Promise<Listing<Found>> {
  const unreadable: UnreadableElement[] = [];
  const onUnreadable = (one: UnreadableElement): void => {
    unreadable.push(one);
    options.onUnreadable?.(one);
  };
  const found = await list({ ...options, onUnreadable });
  return { found, unreadable, mayBeCapped: mayBeCap(found.length + unreadable.length) };
}

/**
 * Returns the object with an id in a list; undefined if there is none. Rejects if the object, or an object without an id, is
 * unreadable, so that the list of a wrong address never counts as a deletion.
 */
export function oneOf<Found extends { id: string }>(id: string, { found, unreadable }: Listing<Found>) {
  const one = found.find((each) => each.id === id);
  const suspect = one ? undefined : unreadable.find((each) => each.id === id || each.id === undefined);
  if (suspect) throw suspect.error;
  return one;
}
