import { ServiceError } from "../errors";
import type { Database } from "./database";

/** Group commit: the changes of one turn of the event loop share a transaction, and each caller is acknowledged after its commit. */
export interface GroupCommit {
  /**
   * Runs `work` in the next transaction; resolves with its result after the commit. Works run in order, one at a time, and a work may
   * run twice. `after` runs right after the commit, before any caller is acknowledged. `bytes` estimates the size of the changes.
   */
  commit<Result>(work: () => Result, after?: (result: Result) => void, bytes?: number): Promise<Result>;
  /** Undoes a change of memory if the current transaction fails; ignored outside of a transaction. */
  onRollback(undo: () => void): void;
  /** Commits the pending works immediately and rejects later ones. */
  close(): void;
}

/** A pending work. */
interface Entry {
  bytes: number;
  run(): void;
  settle(): void;
  fail(error: unknown): void;
}

/** Works and bytes per transaction at most: the process sends no response during a transaction. */
const batchLimit = { works: 256, bytes: 8 * 1024 * 1024 } as const;

/**
 * `window` is the minimum time between transactions while several callers wait, ms: a transaction costs several times as much as a
 * row, so more callers per transaction means more throughput.
 */
export function createGroupCommit(database: Database, window: () => number = () => 1): GroupCommit {
  let pending: Entry[] = [];
  /** Undefined outside of a transaction. */
  let undos: (() => void)[] | undefined;
  let scheduled = false;
  let closed = false;
  let crowded = false;
  let lastBegan = 0;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(run);
  }
  function run(): void {
    const now = performance.now();
    if (crowded && now - lastBegan < window() && pending.length < batchLimit.works) {
      // The event loop reads requests in the meantime.
      setImmediate(run);
      return;
    }
    scheduled = false;
    lastBegan = now;
    commitBatch();
    if (pending.length > 0) schedule();
  }

  function transact(work: () => void): void {
    const begun: (() => void)[] = [];
    undos = begun;
    try {
      database.transaction(work);
    } catch (error) {
      for (const undo of begun.reverse()) undo();
      throw error;
    } finally {
      undos = undefined;
    }
  }

  /** Removes the next works, as many as the limits allow, at least one. */
  function nextBatch(): Entry[] {
    let bytes = 0;
    const end = pending.findIndex((entry, at) => {
      bytes += entry.bytes;
      return at > 0 && (at === batchLimit.works || bytes > batchLimit.bytes);
    });
    const batch = end === -1 ? pending : pending.slice(0, end);
    pending = end === -1 ? [] : pending.slice(end);
    return batch;
  }

  function commitBatch(): void {
    if (pending.length === 0) return;
    const batch = nextBatch();
    crowded = batch.length > 1;
    try {
      transact(() => {
        for (const entry of batch) entry.run();
      });
    } catch (error) {
      // A failed work rolls back the whole batch, so each is repeated in a transaction of its own, and only the failed one rejects.
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
    commit<Result>(work: () => Result, after?: (result: Result) => void, bytes = 0): Promise<Result> {
      if (closed) return Promise.reject(new ServiceError("stopping", "the service is stopping"));
      return new Promise((resolve, reject) => {
        let outcome: { result: Result } | undefined;
        pending.push({
          bytes,
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
    onRollback: (undo) => void undos?.push(undo),
    close() {
      closed = true;
      while (pending.length > 0) commitBatch();
    },
  };
}
