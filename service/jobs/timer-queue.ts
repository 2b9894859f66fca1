/** A priority queue of items by time. */
export interface TimerQueue<Item> {
  add(at: number, item: Item): void;
  /** Removes and returns up to `limit` items whose time is not after `now`, the earliest first. */
  due(now: number, limit: number): Item[];
  /** The earliest time. */
  next(): number | undefined;
}

interface Timer<Item> {
  at: number;
  item: Item;
}

/** Outdated timers that may stay in memory, beyond as many as are current. */
const slack = 64;

/**
 * Outdated timers are not removed at once: `isCurrent` returns whether a timer still counts. They are removed when there are more
 * of them than `size`, the number of items.
 */
export function createTimerQueue<Item>(
  isCurrent: (item: Item, at: number) => boolean,
  size: () => number,
): TimerQueue<Item> {
  // A binary heap by time.
  let heap: Timer<Item>[] = [];

  const timeAt = (index: number): number => heap[index]?.at ?? Number.POSITIVE_INFINITY;
  function swap(one: number, other: number): void {
    const [first, second] = [heap[one], heap[other]];
    if (!first || !second) return;
    heap[one] = second;
    heap[other] = first;
  }
  function rise(index: number): void {
    for (let at = index; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (timeAt(parent) <= timeAt(at)) return;
      swap(parent, at);
      at = parent;
    }
  }
  function sink(index: number): void {
    for (let at = index; ; ) {
      const left = 2 * at + 1;
      const earlier = timeAt(left + 1) < timeAt(left) ? left + 1 : left;
      if (timeAt(earlier) >= timeAt(at)) return;
      swap(earlier, at);
      at = earlier;
    }
  }
  function takeFirst(): void {
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    heap[0] = last;
    sink(0);
  }
  /** The earliest current timer. */
  function first(): Timer<Item> | undefined {
    for (;;) {
      const [timer] = heap;
      if (!timer || isCurrent(timer.item, timer.at)) return timer;
      takeFirst();
    }
  }

  return {
    add(at, item) {
      if (heap.length > 2 * size() + slack) {
        heap = heap.filter((timer) => isCurrent(timer.item, timer.at)).sort((one, other) => one.at - other.at);
      }
      heap.push({ at, item });
      rise(heap.length - 1);
    },
    due(now, limit) {
      const items: Item[] = [];
      for (let timer = first(); timer && timer.at <= now && items.length < limit; timer = first()) {
        items.push(timer.item);
        takeFirst();
      }
      return items;
    },
    next: () => first()?.at,
  };
}
