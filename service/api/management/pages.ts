import { z } from "zod";
import { ServiceError } from "../../errors";
import { parseV2, queryInteger } from "../../validation";

/**
 * Returns the newest elements of a list before a position, newest first, at least `count` if there are as many. A new element
 * has a higher position than the existing ones, so a cursor stays valid while elements are created and deleted.
 */
export type ReadNewest<Row> = (start: number, count: number) => { position: number; row: Row }[];

/** One page of a list, newest first. */
export interface Page<Row> {
  rows: Row[];
  pagination: { nextCursor: string | null; hasNextPage: boolean };
}

/** The pagination of the last page. */
export const lastPage = { nextCursor: null, hasNextPage: false } as const;

const maxPageSize = 1000;

const cursorContent = z.tuple([z.string(), z.int().nullable(), z.int()]);

/** Reads the position of the previous page's last element; throws a ServiceError `unprocessable` for an invalid or foreign cursor. */
function readPosition(cursor: string, operation: string, limit: number | undefined): number {
  const fault = new ServiceError("unprocessable", "cursor: does not belong to this list and its parameters");
  const text = Buffer.from(cursor, "base64url").toString();
  if (Buffer.from(text).toString("base64url") !== cursor) throw fault;
  try {
    const [cursorOperation, size, position] = cursorContent.parse(JSON.parse(text));
    if (cursorOperation === operation && size === (limit ?? null)) return position;
  } catch {
    throw fault;
  }
  throw fault;
}

export type Pager = ReturnType<typeof createPager>;

/** Splits lists into pages. `pageSize` is the default of a query's `limit`. */
export function createPager(pageSize: number) {
  return {
    /** Reads a page. `operation` is the path of the list; a cursor is valid only for its list. */
    page<Row>(operation: string, readNewest: ReadNewest<Row>, query: unknown, max = maxPageSize): Page<Row> {
      const shape = z.object({ cursor: z.string().min(1).optional(), limit: queryInteger(1, max).optional() });
      const { cursor, limit } = parseV2(shape, query);
      const start = cursor === undefined ? Number.MAX_SAFE_INTEGER : readPosition(cursor, operation, limit);
      const size = limit ?? Math.min(pageSize, max);
      // One extra element shows whether another page follows.
      const rowsAhead = readNewest(start, size + 1);
      const pageRows = rowsAhead.slice(0, size);
      const last = pageRows.at(-1);
      const rows = pageRows.map(({ row }) => row);
      if (!last || pageRows.length === rowsAhead.length) return { rows, pagination: lastPage };
      const content = JSON.stringify([operation, limit ?? null, last.position]);
      return { rows, pagination: { nextCursor: Buffer.from(content).toString("base64url"), hasNextPage: true } };
    },
  };
}
