import { join } from "node:path";
import Libsql from "libsql";
import { z } from "zod";

/** Runs statements on an SQLite file as another program; `whileOpen` runs before the file is closed. */
export function changeFile(file: string, statements: string[], whileOpen: () => void = () => undefined): void {
  const connection = new Libsql(file);
  try {
    for (const sql of statements) connection.exec(sql);
    whileOpen();
  } finally {
    connection.close();
  }
}

/** Reads a pragma of an SQLite file. */
export function pragmaOf(file: string, name: string): unknown {
  const connection = new Libsql(file);
  try {
    return z.record(z.string(), z.unknown()).parse(connection.prepare(`PRAGMA ${name}`).get())[name];
  } finally {
    connection.close();
  }
}

/** Acquires the write lock of a service's store as another program, and returns a function that releases it. */
export function lockStore(dataFolder: string): () => void {
  const connection = new Libsql(join(dataFolder, "service.db"));
  connection.exec("BEGIN IMMEDIATE");
  return () => {
    connection.exec("ROLLBACK");
    connection.close();
  };
}
