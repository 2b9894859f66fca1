import { randomInt } from "node:crypto";
import { z } from "zod";
import { notFound, notFoundOnDelete } from "../errors";
import type { Database, RowShape } from "../store/database";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Operations common to all resource tables. Rows are ordered by creation. */
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
    /** The resource's name in messages. */
    noun: string;
    columns: string;
    row: RowShape<Row>;
    /** SQL condition for the rows returned by `newest`. */
    listed?: string;
    idLength?: number;
  },
) {
  const select = `SELECT ${columns} FROM ${name}`;
  const all = database.query(`${select} ORDER BY rowid`, row);
  const positionedRow = z
    .looseObject({ position: z.number() })
    .transform(({ position, ...fields }) => ({ position, row: row.parse(fields) }));
  const newest = database.query(
    `SELECT rowid AS position, ${columns} FROM ${name} WHERE rowid < ? AND ${listed} ORDER BY rowid DESC LIMIT ?`,
    positionedRow,
  );
  const byId = database.query(`${select} WHERE id = ?`, row);
  const removal = database.prepare(`DELETE FROM ${name} WHERE id = ?`);
  return {
    /** Generates a random id such as `jpnw0v75y3qoql`. */
    newId: (): string => Array.from({ length: idLength }, () => letters.charAt(randomInt(letters.length))).join(""),
    list: (): Row[] => all.all(),
    /** The newest `count` rows at positions below `before`, newest first. A new row has a higher position than the existing ones. */
    newest: (before: number, count: number): { position: number; row: Row }[] => newest.all(before, count),
    find: (id: string): Row | undefined => byId.get(id),
    /** Returns a row; throws a ServiceError if it does not exist. */
    get: (id: string): Row => {
      const found = byId.get(id);
      if (!found) throw notFound(noun, id);
      return found;
    },
    /** Creates a lookup of rows by the value of a column. */
    by: (column: string): ((value: string) => Row[]) => {
      const query = database.query(`${select} WHERE ${column} = ? ORDER BY rowid`, row);
      return (value) => query.all(value);
    },
    /** Deletes a row after calling `before`, which may throw to prevent it; throws a ServiceError if the row does not exist. */
    remove: (id: string, before: (row: Row) => void = () => undefined): void =>
      database.transaction(() => {
        const found = byId.get(id);
        if (!found) throw notFoundOnDelete(noun, id);
        before(found);
        removal.run(id);
      }),
  };
}

/** A column that contains JSON of a shape. */
export const json = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(shape);

/** The fields of an object that are neither undefined nor null. */
export const withoutNulls = (fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));

/**
 * Applies changes to an object: undefined keeps a value, null clears it. The caller must parse the result by its shape, which fills in
 * defaults for cleared values.
 */
export function withChanges(current: object, changes: object): Record<string, unknown> {
  const changedFields = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...current, ...Object.fromEntries(changedFields.map(([field, value]) => [field, value ?? undefined])) };
}
