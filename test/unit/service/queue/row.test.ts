import { describe, expect, it, test } from "vitest";
import { createJobRows } from "../../../../service/queue/row";
import { steadyClock } from "../../../../service/steady-clock";
import { ManualClock } from "../../../support/manual-clock";

const steady = steadyClock(new ManualClock());
const none = { workerId: null, startedAt: null, finishedAt: null, error: null };
type Columns = Record<keyof typeof none, string | number | null>;

const set: Columns = { workerId: "w", startedAt: 2, finishedAt: 3, error: "no" };
const columns = ["workerId", "startedAt", "finishedAt", "error"] as const;

/** A row of `jobColumn`. */
const rowOf = (status: string, { workerId, startedAt, finishedAt, error }: Columns) => {
  const record = ["run", 0, 60_000, 1, 1, 1, 100, 0, 0, null, workerId, startedAt, error];
  return { job: JSON.stringify([1, "job", "endpoint", status, finishedAt, 0, 0, record]), has_output: 0 };
};

/** Required and optional columns of each status. */
const statuses: [status: string, required: readonly (typeof columns)[number][], optional: readonly string[]][] = [
  ["IN_QUEUE", [], []],
  ["IN_PROGRESS", ["workerId", "startedAt"], []],
  ["COMPLETED", ["workerId", "startedAt", "finishedAt"], []],
  ["CANCELLED", ["finishedAt"], ["workerId", "startedAt"]],
  ["FAILED", ["finishedAt", "error"], ["workerId", "startedAt"]],
  ["TIMED_OUT", columns, []],
];

describe.each(statuses)("a row of a job that is %s", (status, required, optional) => {
  const { parse } = createJobRows(steady).job;
  const valid: Columns = { ...none };
  for (const column of required) valid[column] = set[column];

  it("is read", () => {
    expect(parse(rowOf(status, valid))).toMatchObject({ id: "job", status });
  });

  it.each(columns.filter((column) => !optional.includes(column)))("is rejected with a wrong %s", (column) => {
    const changed = { ...valid, [column]: valid[column] === null ? set[column] : null };
    expect(() => parse(rowOf(status, changed))).toThrow("the store has a job whose state cannot be read");
  });
});

/** The names of the columns in messages: of `jobColumn`, then of its record; empty for a column that accepts any value. */
const names = ["seq", "id", "endpoint_id", "status", "finished_at", "chunks", "chunks_read", "row"];
const recordNames = ["operation", "", "execution timeout", "time of creation", "time in the queue", "position"].concat([
  "ttl",
  "retries",
  "crashes",
  "webhook",
  "worker",
  "start",
  "error",
]);
const { job } = rowOf("IN_QUEUE", none);
const wrong = [
  ...names.map((name, index) => [name, JSON.stringify(JSON.parse(job).with(index, true))]),
  ...recordNames.map((name, index) => [
    name,
    JSON.stringify([...JSON.parse(job).slice(0, 7), JSON.parse(job)[7].with(index, true)]),
  ]),
  ["row", "{}"],
  ["row", 5],
].filter(([name]) => name !== "");

test.each(wrong)("a wrong value is an error that names the column: %s", (name, value) => {
  const message = `the store has a job whose ${name} cannot be read`;
  for (const { parse } of [createJobRows(steady).job, createJobRows(steady).stored])
    expect(() => parse({ job: value, has_output: 0, output: null })).toThrow(message);
});

test("a row without columns, or with another output than text, is an error", () => {
  for (const { parse } of [createJobRows(steady).job, createJobRows(steady).stored])
    expect(() => parse(5)).toThrow("the store has a job whose row cannot be read");
  expect(() => createJobRows(steady).stored.parse({ job, output: 5 })).toThrow(
    "the store has a job whose output cannot",
  );
});
