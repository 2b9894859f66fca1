import { randomInt } from "node:crypto";
import { z } from "zod";
import { notFound, notFoundOnDelete } from "../errors";
import type { Database, RowShape } from "../store/database";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Operations common to the tables of all resources. Rows are in order of creation. */
export function openTable<Row>(
  database: Database,
  {
    name,
    noun,
    columns,
    row,
    listed = "TRUE",
    idLength = 14,
  }: {
    name: string;
    /** Name of a row in messages. */
    noun: string;
    columns: string;
    row: RowShape<Row>;
    /** Condition in SQL of the rows that `newest` returns. */
    listed?: string;
    idLength?: number;
  },
) {
  const select = `SELECT ${columns} FROM ${name}`;
  const all = database.query(`${select} ORDER BY rowid`, row);
  const placed = z
    .looseObject({ position: z.number() })
    .transform(({ position, ...fields }) => ({ position, row: row.parse(fields) }));
  const newest = database.query(
    `SELECT rowid AS position, ${columns} FROM ${name} WHERE rowid < ? AND ${listed} ORDER BY rowid DESC LIMIT ?`,
    placed,
  );
  const byId = database.query(`${select} WHERE id = ?`, row);
  const removal = database.prepare(`DELETE FROM ${name} WHERE id = ?`);
  return {
    /** A new random id; it looks like `jpnw0v75y3qoql`. */
    newId: (): string => Array.from({ length: idLength }, () => letters.charAt(randomInt(letters.length))).join(""),
    list: (): Row[] => all.all(),
    /** The newest `count` rows created before the one at position `before`, newest first. A later row has a higher position. */
    newest: (before: number, count: number): { position: number; row: Row }[] => newest.all(before, count),
    find: (id: string): Row | undefined => byId.get(id),
    /** Throws a ServiceError when there is no such row. */
    get: (id: string): Row => {
      const found = byId.get(id);
      if (!found) throw notFound(noun, id);
      return found;
    },
    /** The rows with a value in a column. */
    by: (column: string): ((value: string) => Row[]) => {
      const query = database.query(`${select} WHERE ${column} = ? ORDER BY rowid`, row);
      return (value) => query.all(value);
    },
    /** Deletes a row after `before`, which throws to refuse it; a ServiceError when there is none. */
    remove: (id: string, before: (row: Row) => void = () => undefined): void =>
      database.transaction(() => {
        const found = byId.get(id);
        if (!found) throw notFoundOnDelete(noun, id);
        before(found);
        removal.run(id);
      }),
  };
}

/** A column with JSON of a shape. */
export const json = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(shape);

/** The fields of an object that are neither undefined nor null. */
export const withoutNulls = (fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));

/**
 * An object with changes made to it: what is undefined stays as it was, what is null is cleared.
 * The result has yet to be checked by its shape, which fills in the defaults of what was cleared.
 */
export function withChanges(current: object, changes: object): Record<string, unknown> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...current, ...Object.fromEntries(given.map(([field, value]) => [field, value ?? undefined])) };
}
