import { beforeAll } from "vitest";

/** Timeout of all rows together on a busy machine, ms. */
const timeout = 180_000;

/**
 * Runs all rows of a table concurrently before the first test, because they mostly wait for workers. Returns a function with
 * the outcome of a row, which rejects if the row failed.
 */
export function runConcurrently<Row, Outcome>(
  rows: readonly Row[],
  run: (row: Row) => Promise<Outcome>,
): (row: Row) => Promise<Outcome> {
  const outcomes = new Map<Row, Promise<Outcome>>();
  beforeAll(async () => {
    for (const row of rows) outcomes.set(row, run(row));
    await Promise.allSettled(outcomes.values());
  }, timeout);
  return (row) => outcomes.get(row) ?? Promise.reject(new Error("this row is not in the table"));
}
