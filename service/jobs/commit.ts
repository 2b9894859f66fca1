import { ServiceError } from "../errors";
import type { Database } from "../store/database";

/** Group commit: what comes in within one turn of the event loop is one transaction, answered after its commit. */
export interface Committer {
  /**
   * Runs `work` in the next transaction and answers what it returned once that is durable. `work` reads the truth, since
   * all works run one after the other; it may run twice, so it changes nothing but the store. `after` runs right after the
   * commit, before anybody sees the answer: the place for what memory has to learn.
   */
  commit<Result>(work: () => Result, after?: (result: Result) => void): Promise<Result>;
  /** Commits what waits, now, and refuses what comes later. */
  close(): void;
}

interface Entry {
  run(): void;
  settle(): void;
  fail(error: unknown): void;
}

/** Works per transaction at most: a transaction keeps the process from answering. */
const batchSize = 128;

export function createCommitter(database: Database): Committer {
  let waiting: Entry[] = [];
  let scheduled = false;
  let closed = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      commitBatch();
      if (waiting.length > 0) schedule();
    });
  }

  function commitBatch(): void {
    if (waiting.length === 0) return;
    const batch = waiting.slice(0, batchSize);
    waiting = waiting.slice(batchSize);
    try {
      database.transaction(() => {
        for (const entry of batch) entry.run();
      });
    } catch {
      // One of them failed and took the others with it: each on its own, so that only the guilty one fails.
      for (const entry of batch) commitAlone(entry);
      return;
    }
    for (const entry of batch) entry.settle();
  }

  function commitAlone(entry: Entry): void {
    try {
      database.transaction(() => entry.run());
    } catch (error) {
      entry.fail(error);
      return;
    }
    entry.settle();
  }

  return {
    commit<Result>(work: () => Result, after?: (result: Result) => void): Promise<Result> {
      if (closed) return Promise.reject(new ServiceError("stopping", "the service is stopping"));
      return new Promise((resolve, reject) => {
        let outcome: { result: Result } | undefined;
        waiting.push({
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
        schedule();
      });
    },
    close() {
      closed = true;
      while (waiting.length > 0) commitBatch();
    },
  };
}
