/** A waiting job as the queue knows it; the store has the rest. */
export interface QueueEntry {
  id: string;
  /** When it came into the queue, ms since the epoch. */
  queuedAt: number;
  lowPriority: boolean;
}

/** The take order of one endpoint, in memory: rebuilt from the store at start and told of every change after it is durable. */
export interface JobQueue {
  readonly size: number;
  /** Adds a job at its place: new ones at the end, those that a worker gave back before them. */
  add(entry: QueueEntry): void;
  remove(id: string): void;
  /** Takes the first job out. */
  take(): QueueEntry | undefined;
  /** Answers the first job when there is one; undefined when the signal aborts before one comes. */
  wait(signal: AbortSignal): Promise<QueueEntry | undefined>;
  /** The waiting jobs in take order. */
  entries(): Iterable<QueueEntry>;
}

type Taker = (entry: QueueEntry) => void;

export function createJobQueue(): JobQueue {
  // A Map keeps the order of insertion and forgets a cancelled job at once. Jobs that came back are older than all that
  // never left, so they have a short list of their own.
  const fresh = new Map<string, QueueEntry>();
  let returned: QueueEntry[] = [];
  let newest = Number.NEGATIVE_INFINITY;
  const takers: Taker[] = [];

  function take(): QueueEntry | undefined {
    const back = returned.shift();
    if (back) return back;
    for (const [id, entry] of fresh) {
      fresh.delete(id);
      return entry;
    }
    return undefined;
  }

  function* entries(): Iterable<QueueEntry> {
    yield* returned;
    yield* fresh.values();
  }

  return {
    get size() {
      return returned.length + fresh.size;
    },
    add(entry) {
      // The last one who asked gets it: the others may fall idle and go.
      const taker = takers.pop();
      if (taker) return taker(entry);
      if (entry.queuedAt >= newest) {
        newest = entry.queuedAt;
        fresh.set(entry.id, entry);
        return;
      }
      const place = returned.findIndex(({ queuedAt }) => queuedAt > entry.queuedAt);
      returned.splice(place === -1 ? returned.length : place, 0, entry);
    },
    remove(id) {
      if (!fresh.delete(id)) returned = returned.filter((entry) => entry.id !== id);
    },
    take,
    wait(signal) {
      const entry = take();
      if (entry || signal.aborted) return Promise.resolve(entry);
      return new Promise((resolve) => {
        const taker: Taker = (found) => {
          signal.removeEventListener("abort", leave);
          resolve(found);
        };
        const leave = (): void => {
          const place = takers.indexOf(taker);
          if (place !== -1) takers.splice(place, 1);
          resolve(undefined);
        };
        takers.push(taker);
        signal.addEventListener("abort", leave, { once: true });
      });
    },
    entries,
  };
}
