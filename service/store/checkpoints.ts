/**
 * Moves the write-ahead log into the database file in a thread. On the event loop, this blocked the service for 32 to 50 ms every one to two
 * seconds under load (docs/decisions/006-one-write-path.md).
 */

import { Worker } from "node:worker_threads";
import type Libsql from "libsql";

/** Transactions before the thread starts, which a service with few jobs does not need. */
const startAfter = 1000;

/** Interval at which the thread reads the length of the log, ms. */
const interval = 20;

/** Length of a log that is moved, pages of 4 KiB. */
const restartLength = 8192;

/** Length of a log that SQLite moves itself, because the thread does not: it has failed, or gets no processor time. */
const lengthWithoutThread = 8 * restartLength;

/** Maximum wait for the end of the thread's last checkpoint, ms. */
const closeTimeout = 5000;

/** Indexes of the values that both threads share: the store closes, the log has been moved, the thread has closed the file. */
const signal = { close: 0, restart: 1, closed: 2 } as const;

/**
 * The thread's program. It has no event loop, so that the store can wait for its end. The index of the log contains the length of the log
 * (sqlite.org/walformat.html): a checkpoint that only reads the length would write the same pages again.
 */
const program = `
  const { libsql, file, values, signal, interval, restartLength } = require("node:worker_threads").workerData;
  const { openSync, readSync } = require("node:fs");
  const connection = new (require(libsql))(file);
  const checkpoint = connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  const index = openSync(file + "-shm", "r");
  const length = new Uint32Array(1);
  while (Atomics.wait(values, signal.close, 0, interval) === "timed-out") {
    try {
      readSync(index, length, 0, length.byteLength, 16);
      if (length[0] < restartLength || Atomics.load(values, signal.restart) === 1) continue;
      checkpoint.get();
      Atomics.store(values, signal.restart, 1);
    } catch {
      // The disk is full or read-only.
    }
  }
  connection.close();
  Atomics.store(values, signal.closed, 1);
  Atomics.notify(values, signal.closed);
`;

/** Checkpoints of an open store. */
export function createCheckpoints(connection: Libsql.Database, file: string) {
  const values = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  let transactions = 0;
  let thread: Worker | undefined;

  // A checkpoint writes each page once, however often it changed, so few checkpoints cost less.
  connection.pragma(`wal_autocheckpoint = ${restartLength}`);

  function startThread(): void {
    const workerData = { libsql: require.resolve("libsql"), file, values, signal, interval, restartLength };
    thread = new Worker(program, { eval: true, execArgv: [], workerData });
    thread.unref();
    thread.once("error", () => {
      thread = undefined;
    });
    connection.pragma(`wal_autocheckpoint = ${lengthWithoutThread}`);
  }

  return {
    /** Call it after each transaction that has changed rows. */
    afterTransaction(): void {
      transactions += 1;
      if (transactions === startAfter) startThread();
      // The thread has moved the log except for the last changes. If all of it is moved, the next transaction begins it again.
      if (Atomics.exchange(values, signal.restart, 0) === 1) connection.pragma("wal_checkpoint(PASSIVE)");
    },
    /** Ends the thread; blocks until it has closed the file. */
    close(): void {
      Atomics.store(values, signal.close, 1);
      Atomics.notify(values, signal.close);
      if (thread) Atomics.wait(values, signal.closed, 0, closeTimeout);
    },
  };
}
