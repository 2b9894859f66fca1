import { z } from "zod";
import { ServiceError } from "../errors";
import { parseInput } from "../validation";

/**
 * Returns the newest `count` elements of a list before a position, newest first. Later elements have higher positions, so a cursor stays
 * valid while elements are created and deleted.
 */
export type Newest<Row> = (before: number, count: number) => { position: number; row: Row }[];

/** One page of a list, newest first. */
export interface Page<Row> {
  rows: Row[];
  pagination: { nextCursor: string | null; hasNextPage: boolean };
}

/** Maximum page size. */
const largestPage = 1000;

const cursorContent = z.tuple([z.string(), z.int().nullable(), z.int()]);

/** A decimal integer in a query; other number formats and the empty string are rejected. */
export const queryInteger = (least: number, most: number) =>
  z.string().regex(/^\d+$/, "a whole number").transform(Number).pipe(z.int().min(least).max(most));

/** Reads the position of the previous page's last element; throws a ServiceError `unprocessable` for an invalid or foreign cursor. */
function positionIn(cursor: string, operation: string, limit: number | undefined): number {
  const fault = new ServiceError("unprocessable", "cursor: does not belong to this list and its parameters");
  const text = Buffer.from(cursor, "base64url").toString();
  if (Buffer.from(text).toString("base64url") !== cursor) throw fault;
  try {
    const [of, size, position] = cursorContent.parse(JSON.parse(text));
    if (of === operation && size === (limit ?? null)) return position;
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
    page<Row>(operation: string, newest: Newest<Row>, query: unknown, most = largestPage): Page<Row> {
      const shape = z.object({ cursor: z.string().min(1).optional(), limit: queryInteger(1, most).optional() });
      const { cursor, limit } = parseInput(shape, query, "unprocessable");
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : positionIn(cursor, operation, limit);
      const size = limit ?? Math.min(pageSize, most);
      // One extra element shows whether another page follows.
      const found = newest(before, size + 1);
      const shown = found.slice(0, size);
      const last = shown.at(-1);
      const rows = shown.map(({ row }) => row);
      if (!last || shown.length === found.length) return { rows, pagination: { nextCursor: null, hasNextPage: false } };
      const content = JSON.stringify([operation, limit ?? null, last.position]);
      return { rows, pagination: { nextCursor: Buffer.from(content).toString("base64url"), hasNextPage: true } };
    },
  };
}
