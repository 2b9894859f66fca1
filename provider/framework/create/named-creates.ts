import { sharedCallOptions } from "../calls";
import type { Context } from "../contract";
import type { List, NamedObject } from "../definition";
import { sharedValue } from "../deployment";
import { listAll } from "../lists";

/** Creates of one deployment whose names the program sets. */
interface NamedCreates {
  /** Ids of each kind before the first of them. */
  existingIds: Map<string, Promise<ReadonlySet<string>>>;
  /** The last create of each kind and name: creates of the same name run one after the other. */
  lastCreates: Map<string, Promise<unknown>>;
}

const namedCreates = sharedValue((): NamedCreates => ({ existingIds: new Map(), lastCreates: new Map() }));

/** Ids of the objects of a kind that existed before this deployment created its first one. */
export function existingIdsBefore(
  { kind, list }: { kind: string; list: List<NamedObject> },
  context: Context,
): Promise<ReadonlySet<string>> {
  const { existingIds } = namedCreates(context);
  const cached = existingIds.get(kind);
  if (cached) return cached;
  const ids = listAll(list, sharedCallOptions(context)).then(
    ({ objects, unreadable }) => new Set([...objects, ...unreadable].flatMap(({ id }) => id ?? [])),
  );
  existingIds.set(kind, ids);
  // A failed list fails the creates that waited for it; the next create lists again.
  ids.catch(() => existingIds.delete(kind));
  return ids;
}

/** Runs creates with the same key one after the other. */
export function runSerialized<Result>(context: Context, key: string, work: () => Promise<Result>): Promise<Result> {
  const { lastCreates } = namedCreates(context);
  const result = (lastCreates.get(key) ?? Promise.resolve()).then(work);
  lastCreates.set(
    key,
    result.catch(() => undefined),
  );
  return result;
}
