/** Items with the times at which something happens to them; the earliest is found at once, however many there are. */
export interface TimerQueue<Item> {
  add(at: number, item: Item): void;
  /** Takes out the items whose time has come by `now`, the earliest first, up to `limit`. */
  due(now: number, limit: number): Item[];
  /** The earliest time. */
  next(): number | undefined;
}

interface Timer<Item> {
  at: number;
  item: Item;
}

/** Timers of the past that take memory, besides as many as are current. */
const slack = 64;

/**
 * Nothing is taken out when it is over: `isCurrent` says whether a timer still counts, and `size` how many items there are,
 * so that the others are cleared away once they are the larger part.
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
  /** The earliest timer that still counts. */
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
