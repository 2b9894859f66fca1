import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { z } from "zod";
import { StartError } from "../errors";
import type { Command, Database } from "./database";

const value = z.union([z.string(), z.number(), z.null()]);
const write = z.tuple([z.string()], value);
/** A number, one above that of the line before, and what was appended at once. */
const line = z.tuple([z.number()], write);

/** A statement with its parameters, which is run or logged. */
export type Statement = readonly [command: Command, params: z.output<typeof value>[]];

/**
 * Writes that are durable before the tables have them: a line of a file costs a fifth of a transaction. Once a transaction has brought
 * them into the tables the file is empty; when the process ends before that, the next one does it at its start.
 */
export interface RedoLog {
  /** Makes these durable, all or none of them. */
  append(statements: Statement[]): void;
  isEmpty(): boolean;
  /** Empties the log with the transaction that is open, which has to bring everything that was appended into the tables. */
  settle(): void;
  close(): void;
}

type Tables = Pick<Database, "prepare" | "query" | "transaction" | "afterCommit">;

const applied = (tables: Tables): number =>
  tables.query("SELECT applied FROM redo_log", z.object({ applied: z.number() })).get()?.applied ?? 0;
const setApplied = (tables: Tables) => tables.prepare("UPDATE redo_log SET applied = ?");

/**
 * The complete lines of a log. Ignores an unreadable last line: a crash or power cut truncated it before it was acknowledged.
 * Throws an Error for any other unreadable line and for missing lines.
 */
function readLines(path: string): z.output<typeof line>[] {
  if (!existsSync(path)) return [];
  const texts = readFileSync(path, "utf8").split("\n").slice(0, -1);
  const lines = texts.map(readLine);
  if (lines.at(-1) === undefined) lines.pop();
  return lines.map((found, at) => {
    if (!found) throw new Error(`line ${at + 1} cannot be read`);
    const previous = lines[at - 1]?.[0] ?? found[0] - 1;
    if (found[0] !== previous + 1) throw new Error(`changes ${previous + 1} to ${found[0] - 1} are missing`);
    return found;
  });
}

function readLine(text: string): z.output<typeof line> | undefined {
  try {
    return line.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Brings into the tables what a log has beyond them. */
export function redo(path: string, tables: Tables): void {
  try {
    const before = applied(tables);
    const missing = readLines(path).filter(([number]) => number > before);
    const last = missing.at(-1);
    if (!last) return;
    tables.transaction(() => {
      for (const [, ...writes] of missing) for (const [sql, ...params] of writes) tables.prepare(sql).run(...params);
      setApplied(tables).run(last[0]);
    });
  } catch (error) {
    throw new StartError(
      `${path}: does not fit the store beside it (${error instanceof Error ? error.message : error}); it contains accepted jobs, so restore all files of the folder from one backup`,
    );
  }
}

/** Opens the log beside tables that have everything it held. */
export function openRedoLog(path: string, tables: Tables): RedoLog {
  let file: number | undefined = openSync(path, "w", 0o600);
  let size = 0;
  let number = applied(tables);
  const saveApplied = setApplied(tables);

  function empty(): void {
    if (file !== undefined) ftruncateSync(file, 0);
    size = 0;
  }
  return {
    append(statements) {
      // The number may be another file's by now, another service's.
      if (file === undefined) throw new Error("the store is closed");
      const writes = statements.map(([{ sql }, params]) => [sql, ...params]);
      const bytes = Buffer.from(`${JSON.stringify([number + 1, ...writes])}\n`);
      try {
        for (let done = 0; done < bytes.length; )
          done += writeSync(file, bytes, done, bytes.length - done, size + done);
      } catch (error) {
        // Half a line would end the log for a reader.
        ftruncateSync(file, size);
        throw error;
      }
      number += 1;
      size += bytes.length;
    },
    isEmpty: () => size === 0,
    settle() {
      saveApplied.run(number);
      tables.afterCommit(empty);
    },
    close() {
      if (file === undefined) return;
      closeSync(file);
      file = undefined;
    },
  };
}
