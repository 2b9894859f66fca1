import { ShortLivedMap } from "../short-lived-map";

/** Something that waits its turn: the lower its place, the earlier. */
export interface Placed {
  place: number;
}

/**
 * Things in the order of their places. However long the queue is, adding at its end, taking the first and removing take
 * about the same time. What left it must come back as another object. It must not change while somebody iterates over it.
 */
export interface OrderedQueue<Entry extends Placed> extends Iterable<Entry> {
  readonly size: number;
  readonly first: Entry | undefined;
  add(entry: Entry): void;
  /** Returns true if it was there. */
  remove(entry: Entry): boolean;
  /** Takes the first one out. */
  shift(): Entry | undefined;
}

/** Entries that may have left and still take memory, besides as many as are waiting. */
const slack = 64;

export function createOrderedQueue<Entry extends Placed>(): OrderedQueue<Entry> {
  // Sorted by place from `head` on. What left is no longer in `present` and is passed over.
  let sorted: Entry[] = [];
  let head = 0;
  const present = new ShortLivedMap<Entry, true>();

  /** The index of the first entry behind `place`. */
  function behind(place: number): number {
    let low = head;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.place ?? place) > place) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  const isPresent = (entry: Entry | undefined): entry is Entry => entry !== undefined && present.has(entry);

  function tidy(): void {
    while (head < sorted.length && !isPresent(sorted[head])) head++;
    if (sorted.length <= 2 * present.size + slack) return;
    sorted = sorted.slice(head).filter(isPresent);
    head = 0;
  }

  function remove(entry: Entry): boolean {
    if (!present.delete(entry)) return false;
    tidy();
    return true;
  }

  return {
    get size() {
      return present.size;
    },
    get first() {
      return sorted[head];
    },
    add(entry) {
      present.set(entry, true);
      const last = sorted.at(-1);
      const index = last && last.place > entry.place ? behind(entry.place) : sorted.length;
      if (index === sorted.length) sorted.push(entry);
      else if (index === head && head > 0) sorted[--head] = entry;
      else sorted.splice(index, 0, entry);
    },
    remove,
    shift() {
      const first = sorted[head];
      if (first) remove(first);
      return first;
    },
    *[Symbol.iterator]() {
      for (let index = head; index < sorted.length; index++) {
        const entry = sorted[index];
        if (isPresent(entry)) yield entry;
      }
    },
  };
}
