import { existsSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { z } from "zod";
import { StartError } from "../errors";
import { prepareDataFolder, redoFile, storeFile } from "./data-folder";
import { diskFault } from "./disk-faults";
import { migrate, redoSince } from "./migrations";
import { openRedoLog, type RedoLog, redo } from "./redo-log";

/** What a column holds; the tables are STRICT, so a column has one type. */
export type SqlValue = string | number | null | Uint8Array;

/** Reads a row as the store gives it; a zod shape is one. */
export interface RowShape<Row> {
  parse(row: unknown): Row;
}

/** A prepared statement that changes rows; parameters are positional. */
export interface Command {
  readonly sql: string;
  /** How many rows it changed. */
  run(...params: SqlValue[]): number;
}

/** A prepared statement that returns rows; parameters are positional. */
export interface Query<Row> {
  get(...params: SqlValue[]): Row | undefined;
  all(...params: SqlValue[]): Row[];
  /** Reads the rows one by one: there may be a million. */
  each(visit: (row: Row) => void, ...params: SqlValue[]): void;
}

/** The service's store: synchronous SQLite. What `transaction` returned from is there after a kill -9. */
export interface Database {
  /** Prepares a statement that changes rows. */
  prepare(sql: string): Command;
  /** Prepares a statement that returns rows, each read by `row`. */
  query<Row>(sql: string, row: RowShape<Row>): Query<Row>;
  /**
   * Runs `work` whole or not at all; a transaction inside another one is part of it. It begins with the first statement that changes
   * rows, so that one without any costs nothing.
   */
  transaction<Result>(work: () => Result): Result;
  /** Whether the open transaction has changed rows. */
  isWriting(): boolean;
  /** Runs `then` once the open transaction is committed, at once without one, never after a rollback. */
  afterCommit(then: () => void): void;
  /** What is durable before the tables have it. */
  readonly redoLog: RedoLog;
  /** Closes the store and gives the data folder free. */
  close(): void;
}

const sqliteCode = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** Whether an error says that a UNIQUE or PRIMARY KEY rule of a table refused a row. */
export const isUniqueViolation = (error: unknown): boolean =>
  /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(sqliteCode(error));

/** How long a statement waits for a lock of another program, ms. Nothing else of the service runs meanwhile. */
const lockWait = 250;

/** How long a look into a store waits for the service that writes it, ms. */
const lookLimit = 2000;

/**
 * Reads rows of a data folder's store without taking the folder, whether a service has it or not. Changes nothing.
 * Undefined when there is no store yet.
 */
export function lookIntoStore<Row>(dataFolder: string, sql: string, row: RowShape<Row>): Row[] | undefined {
  if (!existsSync(storeFile(dataFolder))) return undefined;
  const connection = new Libsql(storeFile(dataFolder), { timeout: lookLimit });
  try {
    connection.pragma("query_only = ON");
    return connection
      .prepare(sql)
      .all()
      .map((one) => row.parse(one));
  } catch (error) {
    throw unreadable(dataFolder, error);
  } finally {
    connection.close();
  }
}

/** Receives what goes wrong beside the calls of a store. */
export interface StoreFaults {
  /** An error of what follows a commit. */
  ofFollower(error: unknown): void;
  /** Why nothing can be written, once until something is. */
  ofDisk(text: string): void;
}
const ignored: StoreFaults = { ofFollower: () => undefined, ofDisk: () => undefined };

/**
 * Opens the store of a data folder, which is created when absent, and brings its tables up to date.
 * One process has a folder at a time: a second one gets a StartError that names the folder and the process.
 */
export function openDatabase(dataFolder: string, faults = ignored): Database {
  prepareDataFolder(dataFolder);
  const unlock = lockFolder(dataFolder);
  try {
    const connection = connect(dataFolder);
    const tables = wrap(connection, dataFolder, faults);
    // First of all: it is in the words of the version that wrote it.
    if (versionOf(connection) >= redoSince) redo(redoFile(dataFolder), tables);
    migrate({
      version: () => versionOf(connection),
      apply: (sql, version) =>
        connection.transaction(() => {
          connection.exec(sql);
          connection.exec(`PRAGMA user_version = ${version}`);
        })(),
    });
    const redoLog = openRedoLog(redoFile(dataFolder), tables);
    return {
      ...tables,
      redoLog,
      close: () => {
        if (!tables.close()) return;
        redoLog.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw unreadable(dataFolder, error);
  }
}

/** A StartError for a damaged store; any other fault as it is. */
export function unreadable(dataFolder: string, error: unknown): unknown {
  if (!/^SQLITE_(NOTADB|CORRUPT)/.test(sqliteCode(error))) return error;
  return new StartError(
    `the store in ${dataFolder}: cannot be read (${sqliteCode(error)}); keep the folder, which may contain accepted jobs, and restore a backup of all its files`,
  );
}

/**
 * The lock is a write transaction held open on a file of its own. The operating system lets go of it when the process
 * ends, however it ends, so there are no stale locks; readers still see the process id committed just before.
 */
function lockFolder(dataFolder: string): () => void {
  const lock = new Libsql(join(dataFolder, "lock"), { timeout: 0 });
  try {
    lock.exec("BEGIN IMMEDIATE");
    lock.exec(`PRAGMA user_version = ${process.pid}`);
    lock.exec("COMMIT");
    lock.exec("BEGIN IMMEDIATE");
  } catch (error) {
    const owner = ownerOf(lock);
    lock.close();
    if (sqliteCode(error) !== "SQLITE_BUSY") throw error;
    throw new StartError(
      `the data folder ${dataFolder} is in use by another local service (process ${owner}): stop that one or choose another folder with --data`,
    );
  }
  return () => {
    lock.exec("ROLLBACK");
    lock.close();
  };
}

const versionRow = z.object({ user_version: z.number() });
const versionOf = (connection: Libsql.Database): number =>
  versionRow.parse(connection.prepare("PRAGMA user_version").get()).user_version;

function ownerOf(lock: Libsql.Database): string {
  try {
    return String(versionOf(lock));
  } catch {
    return "unknown";
  }
}

function connect(dataFolder: string): Libsql.Database {
  const connection = new Libsql(storeFile(dataFolder), { timeout: lockWait });
  connection.pragma("journal_mode = WAL");
  // A killed process loses nothing that the operating system has; only a power cut could cost the last commits.
  connection.pragma("synchronous = NORMAL");
  connection.pragma("foreign_keys = ON");
  // A checkpoint writes each page once, however often it changed: fewer of them cost less. 8192 pages are 32 MiB of log.
  connection.pragma("wal_autocheckpoint = 8192");
  connection.pragma("cache_size = -32768");
  return connection;
}

/** The tables of the store; `close` says whether they were open. */
function wrap(
  connection: Libsql.Database,
  dataFolder: string,
  faults: StoreFaults,
): Omit<Database, "redoLog" | "close"> & { close(): boolean } {
  let open = true;
  let inside = false;
  let writing = false;
  let waiting: (() => void)[] = [];
  // After its close the driver ends the whole process when it is asked about a transaction, and still runs statements, into
  // a folder that another service may have by then.
  const checkOpen = (): void => {
    if (!open) throw new Error("the store is closed");
  };
  /** The text of the last fault of the disk, until something is written again. */
  let lastFault: string | undefined;
  function named(error: unknown): unknown {
    const fault = diskFault(error, dataFolder);
    if (!fault) return error;
    if (fault.message !== lastFault) faults.ofDisk(fault.message);
    lastFault = fault.message;
    return fault;
  }
  const begin = connection.prepare("BEGIN IMMEDIATE");
  const commit = connection.prepare("COMMIT");
  return {
    // Parameters go on as one array: a single null or blob of its own would be taken for named parameters.
    prepare: (sql) => {
      const statement = connection.prepare(sql);
      return {
        sql,
        run: (...params) => {
          checkOpen();
          if (inside && !writing) {
            begin.run();
            writing = true;
          }
          return statement.run(params).changes;
        },
      };
    },
    query: (sql, row) => {
      const statement = connection.prepare(sql);
      return {
        get: (...params) => {
          checkOpen();
          const found = statement.get(params);
          return found === undefined ? undefined : row.parse(found);
        },
        all: (...params) => {
          checkOpen();
          return statement.all(params).map((one) => row.parse(one));
        },
        each: (visit, ...params) => {
          checkOpen();
          for (const one of statement.iterate(params)) visit(row.parse(one));
        },
      };
    },
    transaction: (work) => {
      checkOpen();
      if (inside) return work();
      inside = true;
      let result: ReturnType<typeof work>;
      try {
        result = work();
        if (writing) {
          commit.run();
          lastFault = undefined;
        }
      } catch (error) {
        waiting = [];
        // SQLite has rolled back by itself after some faults, such as a full disk.
        if (connection.inTransaction) connection.exec("ROLLBACK");
        throw named(error);
      } finally {
        inside = false;
        writing = false;
      }
      const committed = waiting;
      waiting = [];
      // The changes are durable: no fault here may look like a rollback.
      for (const then of committed) {
        try {
          then();
        } catch (error) {
          faults.ofFollower(error);
        }
      }
      return result;
    },
    isWriting: () => writing,
    afterCommit: (then) => {
      checkOpen();
      if (inside) waiting.push(then);
      else then();
    },
    close: () => {
      if (!open) return false;
      open = false;
      // The driver closes the file only once its statements are collected; what is in the log belongs into the file now.
      connection.pragma("wal_checkpoint(TRUNCATE)");
      connection.close();
      return true;
    },
  };
}
