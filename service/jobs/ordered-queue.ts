import { ShortLivedMap } from "../short-lived-map";

/**
 * A queue ordered by place. Appending, shifting and removing take about constant time. A removed object cannot be added again; add a
 * copy instead. The queue must not change during an iteration.
 */
interface OrderedQueue<Entry> extends Iterable<Entry> {
  readonly size: number;
  readonly first: Entry | undefined;
  add(entry: Entry): void;
  remove(entry: Entry): void;
  /** Removes and returns the first entry. */
  shift(): Entry | undefined;
}

/** Number of removed entries that may stay in memory, in addition to the number of present entries. */
const maxRemovedEntries = 64;

/** Creates a queue; the entry with the lowest place is first. */
export function createOrderedQueue<Entry extends { place: number }>(): OrderedQueue<Entry> {
  // Sorted by place from `head` on. Entries missing from `present` were removed and are skipped.
  let sorted: Entry[] = [];
  let head = 0;
  const present = new ShortLivedMap<Entry, true>();

  /** Index of the first entry after `place`. */
  function indexAfter(place: number): number {
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

  function compact(): void {
    while (head < sorted.length && !isPresent(sorted[head])) head++;
    if (sorted.length <= 2 * present.size + maxRemovedEntries) return;
    sorted = sorted.slice(head).filter(isPresent);
    head = 0;
  }

  function remove(entry: Entry): void {
    if (present.delete(entry)) compact();
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
      const index = last && last.place > entry.place ? indexAfter(entry.place) : sorted.length;
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
