import type { CallOptions, UnreadableElement } from "serverless-compute-api";

/** Requests all objects of one kind. */
export type List<ApiObject> = (options: CallOptions) => Promise<ApiObject[]>;

/** Contents of a list, and the reason why it cannot prove that an object does not exist. */
export interface Listing<ApiObject> {
  objects: ApiObject[];
  /** Elements that do not fit the shape of their kind. */
  unreadable: UnreadableElement[];
  /** True if the service may have more than it lists. */
  mayBeCapped: boolean;
}

/**
 * Services cap their lists at round numbers, for example 400, and show the oldest objects without reporting the cap. So a
 * list of such a length may be capped, unless the service states that it is complete.
 */
const isPossibleCap = (length: number): boolean => length > 0 && (length % 50 === 0 || length % 64 === 0);

/** Requests a list; an unreadable object does not affect the others. */
export async function listAll<ApiObject>(list: List<ApiObject>, options: CallOptions): Promise<Listing<ApiObject>> {
  const unreadable: UnreadableElement[] = [];
  const onUnreadable = (element: UnreadableElement): void => {
    unreadable.push(element);
    options.onUnreadable?.(element);
  };
  let isComplete = false;
  const onComplete = (): void => {
    isComplete = true;
  };
  const objects = await list({ ...options, onUnreadable, onComplete });
  return { objects, unreadable, mayBeCapped: !isComplete && isPossibleCap(objects.length + unreadable.length) };
}

/**
 * Returns the object with an id in a list; undefined if there is none. Rejects if the object, or an object without an id, is
 * unreadable, so that the list of a wrong address never counts as a deletion.
 */
export function findById<ApiObject extends { id: string }>(id: string, { objects, unreadable }: Listing<ApiObject>) {
  const object = objects.find((candidate) => candidate.id === id);
  const obstacle = object
    ? undefined
    : unreadable.find((candidate) => candidate.id === id || candidate.id === undefined);
  if (obstacle) throw obstacle.error;
  return object;
}
