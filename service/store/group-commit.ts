/** Concurrent changes share a transaction, because it takes 20 µs and a changed row 6 µs (docs/decisions/006-one-write-path.md). */

import { ServiceError, serviceStopping } from "../errors";
import type { SteadyClock } from "../steady-clock";
import { storePause } from "../timings";
import type { Database } from "./database";

/** Group commit. Each caller is acknowledged after the commit. */
export interface GroupCommit {
  /**
   * Runs `work` in the next transaction; resolves with its result after the commit, and after the callbacks of the database's `afterCommit`.
   * Works run sequentially in order, and a work may run twice. `bytes` estimates the size of the changes.
   */
  commit<Result>(work: () => Result, bytes?: number): Promise<Result>;
  /**
   * Like `commit`. If the store fails, also retries the work in the background until the service stops, because no caller would repeat it.
   */
  commitWithRetries<Result>(work: () => Result): Promise<Result>;
  /** Runs `undo`, which reverts a change in memory, if the current transaction fails; ignored outside of a transaction. */
  onRollback(undo: () => void): void;
  /**
   * Runs `write` at the end of the current transaction, before its commit, for a row that later works may change again; immediately
   * outside of a transaction.
   */
  beforeCommit(write: () => void): void;
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

/** Maximum works and bytes per transaction; the process sends no responses during a transaction. */
const maxBatch = { works: 256, bytes: 8 * 1024 * 1024 } as const;

/** Maximum time between the first work of a transaction and its commit, ms. */
const maxWait = 3;

/** Returns whether no change can be written. A full disk may still have room for a smaller one. */
const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && error.code === "storeUnavailable";

/** Creates the group commit of a store. */
export function createGroupCommit(database: Database, clock: SteadyClock): GroupCommit {
  let pending: Entry[] = [];
  let current: { undos: (() => void)[]; writes: (() => void)[] } | undefined;
  let scheduled = false;
  let closed = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    const startedAt = clock.now();
    // A lone work is that of a single client, which would only wait.
    let previousCount = 1;
    /** Commits after a turn of the event loop without new works, so that a transaction grows while requests arrive. */
    function checkPending(): void {
      const isGrowing = pending.length > previousCount && pending.length < maxBatch.works;
      previousCount = pending.length;
      if (isGrowing && clock.now() - startedAt < maxWait) return void setImmediate(checkPending);
      scheduled = false;
      commitBatch();
      if (pending.length > 0) schedule();
    }
    setImmediate(checkPending);
  }

  function runTransaction(work: () => void): void {
    const transaction: NonNullable<typeof current> = { undos: [], writes: [] };
    current = transaction;
    try {
      database.transaction(() => {
        work();
        for (const write of transaction.writes) write();
        // Callbacks of the commit are outside of the transaction.
        current = undefined;
      });
    } catch (error) {
      for (const undo of transaction.undos.reverse()) undo();
      throw error;
    } finally {
      current = undefined;
    }
  }

  /** Removes the next works: as many as the limits allow, but at least one. */
  function nextBatch(): Entry[] {
    let bytes = 0;
    const end = pending.findIndex((entry, index) => {
      bytes += entry.bytes;
      return index > 0 && (index === maxBatch.works || bytes > maxBatch.bytes);
    });
    const batch = end === -1 ? pending : pending.slice(0, end);
    pending = end === -1 ? [] : pending.slice(end);
    return batch;
  }

  function commitBatch(): void {
    if (pending.length === 0) return;
    const batch = nextBatch();
    try {
      runTransaction(() => {
        for (const entry of batch) entry.run();
      });
    } catch (error) {
      // A failed work rolls back the batch. Each work is then repeated in its own transaction, so that only the failed work rejects. A
      // store that cannot be written fails all of them.
      if (batch.length > 1 && !isUnavailable(error)) for (const entry of batch) commitAlone(entry);
      else for (const entry of batch) entry.fail(error);
      return;
    }
    for (const entry of batch) entry.settle();
  }

  function commitAlone(entry: Entry): void {
    try {
      runTransaction(entry.run);
    } catch (error) {
      entry.fail(error);
      return;
    }
    entry.settle();
  }

  function commit<Result>(work: () => Result, bytes = 0): Promise<Result> {
    if (closed) return Promise.reject(serviceStopping());
    return new Promise((resolve, reject) => {
      let outcome: { result: Result } | undefined;
      pending.push({
        bytes,
        run: () => {
          outcome = { result: work() };
        },
        settle: () => void (outcome && resolve(outcome.result)),
        fail: reject,
      });
      schedule();
    });
  }

  function commitWithRetries<Result>(work: () => Result): Promise<Result> {
    const firstAttempt = commit(work);
    firstAttempt.catch(async (error: unknown) => {
      if (error instanceof ServiceError && error.code === "stopping") return;
      await clock.sleep(storePause);
      commitWithRetries(work).catch(() => undefined);
    });
    return firstAttempt;
  }

  return {
    commit,
    commitWithRetries,
    onRollback: (undo) => void current?.undos.push(undo),
    beforeCommit: (write) => void (current ? current.writes.push(write) : write()),
    close() {
      closed = true;
      while (pending.length > 0) commitBatch();
    },
  };
}
