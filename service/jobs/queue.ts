import { createLine } from "./line";

/** A waiting job as the queue knows it; the store has the rest. */
export interface QueueEntry {
  id: string;
  /** Its turn among all jobs: the lower, the earlier. */
  place: number;
  /** When it came into the queue, ms since the epoch. */
  queuedAt: number;
  lowPriority: boolean;
}

/** The take order of one endpoint, in memory: rebuilt from the store at start and told of every change after it is durable. */
export interface JobQueue {
  readonly size: number;
  /** Jobs that were handed out and neither started nor came back yet: until that is durable, they wait. */
  readonly handed: number;
  /** Adds a job at its place: those that a worker gave back have their old one. */
  add(entry: QueueEntry): void;
  /** The job started, or is over. */
  remove(id: string): void;
  /** Takes the first job out. */
  take(): QueueEntry | undefined;
  /** Answers the first job when there is one; undefined when the signal aborts before one comes. */
  wait(signal: AbortSignal): Promise<QueueEntry | undefined>;
  /** The waiting jobs in take order. */
  entries(): Iterable<QueueEntry>;
  /** Those of them that may start workers: all but the ones of low priority. */
  pressing(): Iterable<QueueEntry>;
}

type Taker = (entry: QueueEntry) => void;

export function createJobQueue(): JobQueue {
  const all = createLine<QueueEntry>();
  // A line of its own, so that a look for jobs that start workers does not pass thousands that do not.
  const pressing = createLine<QueueEntry>();
  const takers: Taker[] = [];
  const handed = new Set<string>();

  function take(): QueueEntry | undefined {
    const entry = all.shift();
    if (!entry) return undefined;
    pressing.remove(entry.id);
    handed.add(entry.id);
    return entry;
  }

  return {
    get size() {
      return all.size;
    },
    get handed() {
      return handed.size;
    },
    add(entry) {
      // The last one who asked gets it: the others may fall idle and go.
      const taker = takers.pop();
      if (taker) {
        handed.add(entry.id);
        return taker(entry);
      }
      handed.delete(entry.id);
      all.add(entry);
      if (!entry.lowPriority) pressing.add(entry);
    },
    remove(id) {
      handed.delete(id);
      all.remove(id);
      pressing.remove(id);
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
    entries: () => all,
    pressing: () => pressing,
  };
}
