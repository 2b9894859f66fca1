import { ServiceError } from "../errors";
import type { Database } from "./database";

/** Group commit: the changes of one turn of the event loop are one transaction, and their callers hear of it after the commit. */
export interface GroupCommit {
  /**
   * Runs `work` in the next transaction and resolves with what it returned once that is durable. Works run one after the
   * other. A work may change memory as well, when it says with `onRollback` how to undo that; it may run twice. `after`
   * runs right after the commit, before any caller hears of it.
   */
  commit<Result>(work: () => Result, after?: (result: Result) => void, options?: CommitOptions): Promise<Result>;
  /** Runs `work` in a transaction of its own at once, or in the one that is open, and returns what it returned. */
  now<Result>(work: () => Result): Result;
  /** Undoes a change of memory when the transaction of the work that is running now fails; outside of one there is nothing to undo. */
  onRollback(undo: () => void): void;
  /** Commits what waits, now, and refuses what comes later. */
  close(): void;
}

export interface CommitOptions {
  /** About how much the work writes. */
  bytes?: number | undefined;
  /** Nobody waits for it: it goes with the next work that somebody waits for, or on its own a moment later. */
  lazy?: boolean;
}

interface Entry {
  bytes: number;
  lazy: boolean;
  run(): void;
  settle(): void;
  fail(error: unknown): void;
}

/** Works and bytes per transaction at most: a transaction keeps the process from responding. */
const batchLimit = { works: 256, bytes: 8 * 1024 * 1024 } as const;

/** How long a lazy work waits at most, ms. */
const lazyDelay = 2;

export interface GroupCommitOptions {
  /** Writes what memory has gathered for the store, at the end of each transaction. */
  beforeCommit?: () => void;
  /**
   * A transaction costs several times what a work costs, so that many callers are served sooner when they share one: as long as
   * more than one waits, a transaction begins so many ms after the last one. The more callers there are, the more come meanwhile.
   */
  window?(): number;
  /** A work that comes alone, more than so many ms after the last transaction, does not wait for the end of the turn either. */
  aloneAfter?: number;
}

export function createGroupCommit(
  database: Database,
  { beforeCommit, window = () => 1, aloneAfter = Number.POSITIVE_INFINITY }: GroupCommitOptions = {},
): GroupCommit {
  let waiting: Entry[] = [];
  /** Undefined outside of a transaction. */
  let undos: (() => void)[] | undefined;
  let scheduled = false;
  let later: NodeJS.Timeout | undefined;
  let closed = false;
  let crowded = false;
  let lastBegan = 0;

  function schedule(lazy: boolean): void {
    if (scheduled) return;
    if (lazy) {
      later ??= setTimeout(run, lazyDelay);
      return;
    }
    scheduled = true;
    if (!crowded && performance.now() - lastBegan > aloneAfter) queueMicrotask(run);
    else setImmediate(run);
  }
  function run(): void {
    const now = performance.now();
    // Meanwhile the event loop takes what comes in.
    if (crowded && now - lastBegan < window() && waiting.length < batchLimit.works) {
      setImmediate(run);
      return;
    }
    clearTimeout(later);
    scheduled = false;
    later = undefined;
    lastBegan = now;
    commitBatch();
    if (waiting.length > 0) schedule(false);
  }

  function transact<Result>(work: () => Result): Result {
    const begun: (() => void)[] = [];
    undos = begun;
    try {
      return database.transaction(() => {
        const result = work();
        beforeCommit?.();
        return result;
      });
    } catch (error) {
      for (const undo of begun.reverse()) undo();
      throw error;
    } finally {
      undos = undefined;
    }
  }

  /** The works that come next, as many as the limits allow, at least one. */
  function nextBatch(): Entry[] {
    let bytes = 0;
    const end = waiting.findIndex((entry, at) => {
      bytes += entry.bytes;
      return at > 0 && (at === batchLimit.works || bytes > batchLimit.bytes);
    });
    const batch = end === -1 ? waiting : waiting.slice(0, end);
    waiting = end === -1 ? [] : waiting.slice(end);
    return batch;
  }

  function commitBatch(): void {
    if (waiting.length === 0) return;
    const batch = nextBatch();
    crowded = batch.filter(({ lazy }) => !lazy).length > 1;
    try {
      transact(() => {
        for (const entry of batch) entry.run();
      });
    } catch (error) {
      // One of them failed and took the others with it: each on its own, so that only the guilty one fails.
      if (batch.length > 1) for (const entry of batch) commitAlone(entry);
      else for (const entry of batch) entry.fail(error);
      return;
    }
    for (const entry of batch) entry.settle();
  }

  function commitAlone(entry: Entry): void {
    try {
      transact(entry.run);
    } catch (error) {
      entry.fail(error);
      return;
    }
    entry.settle();
  }

  return {
    commit<Result>(work: () => Result, after?: (result: Result) => void, options: CommitOptions = {}): Promise<Result> {
      if (closed) return Promise.reject(new ServiceError("stopping", "the service is stopping"));
      return new Promise((resolve, reject) => {
        let outcome: { result: Result } | undefined;
        waiting.push({
          bytes: options.bytes ?? 0,
          lazy: options.lazy ?? false,
          run: () => {
            outcome = { result: work() };
          },
          settle: () => {
            if (!outcome) return;
            try {
              after?.(outcome.result);
              resolve(outcome.result);
            } catch (error) {
              reject(error);
            }
          },
          fail: reject,
        });
        schedule(options.lazy ?? false);
      });
    },
    now: (work) => (undos ? work() : transact(work)),
    onRollback: (undo) => void undos?.push(undo),
    close() {
      closed = true;
      while (waiting.length > 0) commitBatch();
    },
  };
}
