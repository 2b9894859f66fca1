/** Something that stands in a line: the lower its place, the earlier its turn. */
export interface Placed {
  id: string;
  place: number;
}

/**
 * Things in the order of their places. However long the line is, adding at its end, taking the first and removing take
 * about the same time. It is not to be changed while somebody iterates over it.
 */
export interface Line<Entry extends Placed> extends Iterable<Entry> {
  readonly size: number;
  add(entry: Entry): void;
  remove(id: string): void;
  /** Takes the first one out. */
  shift(): Entry | undefined;
}

/** Entries that may be out of the line and still take memory, besides as many as are in it. */
const slack = 1000;

export function createLine<Entry extends Placed>(): Line<Entry> {
  // Sorted by place from `head` on. Who left the line is no longer in `present` and is passed over.
  let sorted: Entry[] = [];
  let head = 0;
  const present = new Map<string, Entry>();
  const isThere = (entry: Entry | undefined): entry is Entry => entry !== undefined && present.get(entry.id) === entry;

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

  function tidy(): void {
    while (head < sorted.length && !isThere(sorted[head])) head++;
    if (sorted.length <= 2 * present.size + slack) return;
    sorted = sorted.slice(head).filter(isThere);
    head = 0;
  }

  return {
    get size() {
      return present.size;
    },
    add(entry) {
      if (present.delete(entry.id)) tidy();
      // A copy, so that what left the line and comes back is not there twice.
      const own = { ...entry };
      present.set(own.id, own);
      const last = sorted.at(-1);
      const index = last && last.place > own.place ? behind(own.place) : sorted.length;
      if (index === sorted.length) sorted.push(own);
      else if (index === head && head > 0) sorted[--head] = own;
      else sorted.splice(index, 0, own);
    },
    remove(id) {
      if (present.delete(id)) tidy();
    },
    shift() {
      const first = sorted[head];
      if (!isThere(first)) return undefined;
      present.delete(first.id);
      tidy();
      return first;
    },
    *[Symbol.iterator]() {
      for (let index = head; index < sorted.length; index++) {
        const entry = sorted[index];
        if (isThere(entry)) yield entry;
      }
    },
  };
}
