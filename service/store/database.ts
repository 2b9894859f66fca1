import type Libsql from "libsql";
import { codeOf } from "../errors";
import { prepareDataFolder } from "./data-folder";
import { damaged, diskFault, LostStore, onDisk, parseRow } from "./faults";
import { lockFolder } from "./folder-lock";
import { schemaVersion } from "./schema";
import { checkTables, createStoreFile, hasReadableLog, hasStore, inodeOf, openFile, storeFile } from "./store-file";

/** A value of a column; the tables are STRICT, so a column has one type. */
type SqlValue = string | number | null | Uint8Array;

/** Parses a row of a result, such as a zod shape. */
export interface RowShape<Row> {
  parse(row: unknown): Row;
}

/** A prepared statement that changes rows; parameters are positional. */
export interface Command {
  run(...params: SqlValue[]): void;
}

/** A prepared statement that returns rows; parameters are positional. */
export interface Query<Row> {
  get(...params: SqlValue[]): Row | undefined;
  all(...params: SqlValue[]): Row[];
  /** Reads the rows one by one: there may be a million. */
  each(onRow: (row: Row) => void, ...params: SqlValue[]): void;
}

/** The service's store: synchronous SQLite. Changes are durable when `transaction` returns: a kill -9 loses none. */
export interface Database {
  /** Prepares a statement that changes rows. */
  prepare(sql: string): Command;
  /** Prepares a statement that returns rows, each parsed by `row`. */
  query<Row>(sql: string, row: RowShape<Row>): Query<Row>;
  /**
   * Runs `work` in a transaction, which is rolled back if it throws. A nested call joins the outer transaction. The transaction begins with
   * the first statement that changes rows, so a read-only call costs nothing.
   */
  transaction<Result>(work: () => Result): Result;
  /** Runs `callback` after the open transaction is committed, never after a rollback; immediately if none is open. */
  afterCommit(callback: () => void): void;
  /** Writes a page without changing it; throws if the store cannot be written. */
  rewriteHeader(): void;
  /** Closes the store and unlocks the data folder. */
  close(): void;
}

/** Maximum wait for another program's lock, ms. The service does nothing else in that time. */
const lockTimeout = 250;

/** Maximum wait for a lock while another process reads a running service's store, ms. */
const readerLockTimeout = 2000;

/** Time for which the store's file counts as present after a check, ms. A check takes 5 µs, and a job has two transactions. */
const presenceTime = 100;

/**
 * Reads rows of a data folder's store without locking the folder, even while a service uses it. Changes nothing. Returns undefined
 * if there is no store yet.
 */
export function readStore<Row>(dataFolder: string, sql: string, row: RowShape<Row>): Row[] | undefined {
  return onDisk(dataFolder, () => {
    if (!hasStore(dataFolder)) return undefined;
    const connection = open(dataFolder, readerLockTimeout);
    try {
      connection.pragma("query_only = ON");
      return connection
        .prepare(sql)
        .all()
        .map((columns) => parseRow(sql, row, columns));
    } finally {
      connection.close();
    }
  });
}

function open(dataFolder: string, timeout: number): Libsql.Database {
  if (!hasReadableLog(dataFolder)) throw damaged(dataFolder, "its write-ahead log is damaged");
  return openFile(storeFile(dataFolder), { timeout });
}

/** Receives errors that no caller of the store receives. */
export interface StoreFaults {
  /** An `afterCommit` callback failed. */
  onCallbackError(error: unknown): void;
  /** A change failed because the store cannot be written. */
  onDiskFault(text: string): void;
}
const ignoredFaults: StoreFaults = { onCallbackError: () => undefined, onDiskFault: () => undefined };

/**
 * Opens the store of a data folder; creates both if they do not exist. Throws a StartError if another process uses the folder, or
 * if the store is damaged or not one of this release, and the error of {@link onDisk} if the disk is full or read-only.
 */
export const openDatabase = (dataFolder: string, faults = ignoredFaults): Database =>
  onDisk(dataFolder, () => openLocked(dataFolder, faults));

function openLocked(dataFolder: string, faults: StoreFaults): Database {
  prepareDataFolder(dataFolder);
  const unlock = lockFolder(dataFolder);
  try {
    if (!hasStore(dataFolder)) createStoreFile(dataFolder);
    const connection = connect(dataFolder);
    return createStore(connection, { dataFolder, faults, unlock });
  } catch (error) {
    unlock();
    throw error;
  }
}

function connect(dataFolder: string): Libsql.Database {
  const connection = open(dataFolder, lockTimeout);
  try {
    checkTables(connection, dataFolder);
  } catch (error) {
    connection.close();
    throw error;
  }
  connection.pragma("journal_mode = WAL");
  // A killed process loses no commits; a power cut can lose the last commits.
  connection.pragma("synchronous = NORMAL");
  connection.pragma("foreign_keys = ON");
  // A checkpoint writes each page once, however often it changed, so few checkpoints cost less. 8192 pages are 32 MiB of log.
  connection.pragma("wal_autocheckpoint = 8192");
  connection.pragma("cache_size = -32768");
  return connection;
}

function createStore(
  connection: Libsql.Database,
  { dataFolder, faults, unlock }: { dataFolder: string; faults: StoreFaults; unlock(): void },
): Database {
  let isOpen = true;
  let isInTransaction = false;
  let hasBegun = false;
  let callbacks: (() => void)[] = [];
  // A closed connection of the driver still executes statements, although another service may already use the folder, and reading its
  // `inTransaction` ends the process.
  const checkOpen = (): void => {
    if (!isOpen) throw new Error("the store is closed");
  };
  function reportFault(error: unknown): unknown {
    const fault = diskFault(error, dataFolder);
    if (!fault) return error;
    faults.onDiskFault(fault.message);
    return fault;
  }
  const begin = connection.prepare("BEGIN IMMEDIATE");
  const commit = connection.prepare("COMMIT");
  const inode = inodeOf(storeFile(dataFolder));
  let presentUntil = 0;
  /** Throws if the file is no longer in its place: SQLite would continue to write it, and lose its changes when the service stops. */
  function checkPresence(): void {
    const now = performance.now();
    if (now < presentUntil) return;
    if (inodeOf(storeFile(dataFolder)) !== inode) throw new LostStore();
    presentUntil = now + presenceTime;
  }
  /** True from a wait for a lock in vain until the next transaction. Meanwhile, each attempt fails without a wait, which would block the service. */
  let isLocked = false;
  function setLocked(locked: boolean): void {
    if (locked === isLocked) return;
    isLocked = locked;
    connection.pragma(`busy_timeout = ${locked ? 0 : lockTimeout}`);
  }
  /** Begins the transaction with its first change. */
  function beginOnce(): void {
    if (hasBegun) return;
    checkPresence();
    try {
      begin.run();
    } catch (error) {
      setLocked(/^SQLITE_(?:BUSY|LOCKED)/.test(codeOf(error)));
      throw error;
    }
    setLocked(false);
    hasBegun = true;
  }
  function transaction<Result>(work: () => Result): Result {
    checkOpen();
    if (isInTransaction) return work();
    isInTransaction = true;
    let result: Result;
    try {
      result = work();
      if (hasBegun) commit.run();
    } catch (error) {
      callbacks = [];
      // SQLite rolls back automatically after some faults, such as a full disk.
      if (connection.inTransaction) connection.exec("ROLLBACK");
      throw reportFault(error);
    } finally {
      isInTransaction = false;
      hasBegun = false;
    }
    const pendingCallbacks = callbacks;
    callbacks = [];
    // The changes are durable: an error here must not look like a rollback.
    for (const callback of pendingCallbacks) {
      try {
        callback();
      } catch (error) {
        faults.onCallbackError(error);
      }
    }
    return result;
  }
  return {
    // Parameters are passed as one array: the driver reads a single null or blob as named parameters.
    prepare: (sql) => {
      const statement = connection.prepare(sql);
      return {
        // Always in a transaction: after a failed BEGIN, the driver would not commit a single statement.
        run: (...params) =>
          transaction(() => {
            beginOnce();
            statement.run(params);
          }),
      };
    },
    query: (sql, row) => {
      const statement = connection.prepare(sql);
      return {
        get: (...params) => {
          checkOpen();
          const columns = statement.get(params);
          return columns === undefined ? undefined : parseRow(sql, row, columns);
        },
        all: (...params) => {
          checkOpen();
          return statement.all(params).map((columns) => parseRow(sql, row, columns));
        },
        each: (onRow, ...params) => {
          checkOpen();
          for (const columns of statement.iterate(params)) onRow(parseRow(sql, row, columns));
        },
      };
    },
    transaction,
    afterCommit: (callback) => {
      checkOpen();
      if (isInTransaction) callbacks.push(callback);
      else callback();
    },
    rewriteHeader: () =>
      transaction(() => {
        beginOnce();
        connection.exec(`PRAGMA user_version = ${schemaVersion}`);
      }),
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      // The driver closes the file when its statements are collected, which may be never, so the log is moved into the file now.
      try {
        connection.pragma("wal_checkpoint(TRUNCATE)");
      } catch {
        // The disk is full or read-only. The log keeps the changes for the next start.
      }
      connection.close();
      unlock();
    },
  };
}
