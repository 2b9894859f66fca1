import type { CallOptions, UnreadableElement } from "serverless-compute-api";

/** Asks the service for all its objects of one kind. */
export type List<Found> = (options: CallOptions) => Promise<Found[]>;

/** What a list shows, and what keeps it from proving that an object is not there. */
export interface Listing<Found> {
  found: Found[];
  /** Elements that do not fit the shape of their kind. */
  unreadable: UnreadableElement[];
  /** True if the service may have more than it lists. */
  mayBeCapped: boolean;
}

/**
 * Services cap their lists at round numbers, 400 for example, and show the oldest objects; none says that it did. So a
 * list of just such a length may be one of them.
 */
const mayBeCap = (length: number): boolean => length > 0 && (length % 50 === 0 || length % 64 === 0);

/** Asks for a list; an object in it that cannot be read spoils no other. */
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
 * The object of an id in a list, undefined when the list has none. Rejects when it cannot be read, and when one that
 * has no id may be it: a list of strangers, as of a wrong address, must not read as "deleted".
 */
export function oneOf<Found extends { id: string }>(id: string, { found, unreadable }: Listing<Found>) {
  const one = found.find((each) => each.id === id);
  const suspect = one ? undefined : unreadable.find((each) => each.id === id || each.id === undefined);
  if (suspect) throw suspect.error;
  return one;
}
