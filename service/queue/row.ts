import { jobStatus } from "serverless-compute-api/shapes";
import type { SteadyClock } from "../steady-clock";
import type { Job, JobOperation, JobProperties } from "./job";

const moved = (time: number | undefined, ms: number): number | undefined =>
  time === undefined ? undefined : time + ms;

/**
 * Properties without a column of their own, as one JSON array in the order of existing stores. Separate columns are slower to read,
 * and a start may read a million jobs.
 */
export const recordOf = (job: Job, systemChange: number): string =>
  JSON.stringify([
    job.operation,
    job.lowPriority ? 1 : 0,
    job.executionTimeout,
    job.createdAt,
    job.queuedAt + systemChange,
    job.position,
    job.expiresAt,
    job.retries,
    job.crashes,
    job.webhook,
    job.workerId,
    moved(job.startedAt, systemChange),
    job.error,
  ]);

/** Index of the error in `recordOf`, for SQL statements. */
export const errorIndex = 12;

/** The properties of a job as one column; `record` is the SQL expression for those without a column. */
const columnOf = (record: string): string =>
  `json_array(seq, id, endpoint_id, status, finished_at, coalesce(chunks, 0), coalesce(chunks_read, 0), ${record}) AS job`;

/** The properties of every job, as one column. */
export const jobColumn = columnOf("json(record)");

/** Maximum length of an error in a list, in characters. */
const maxListedError = 300;

/** Like `jobColumn`, with the first characters of the error only. */
export const listedJobColumn = columnOf(
  `CASE WHEN octet_length(record) <= 512 THEN json(record)
    ELSE json_set(record, '$[${errorIndex}]', substr(record ->> ${errorIndex}, 1, ${maxListedError})) END`,
);

const unreadable = (column: string): Error => new Error(`the store has a job whose ${column} cannot be read`);

// Parsed by hand, because a zod schema takes ten times as long.
function text(value: unknown, column: string): string {
  if (typeof value !== "string") throw unreadable(column);
  return value;
}
function number(value: unknown, column: string): number {
  if (typeof value !== "number") throw unreadable(column);
  return value;
}
const optionalText = (value: unknown, column: string): string | undefined =>
  value === null ? undefined : text(value, column);
const optionalNumber = (value: unknown, column: string): number | undefined =>
  value === null ? undefined : number(value, column);
function oneOf<Value extends string>(value: unknown, column: string, values: readonly Value[]): Value {
  const found = values.find((candidate) => candidate === value);
  if (found === undefined) throw unreadable(column);
  return found;
}

const operations = ["run", "runsync", "openai"] as const satisfies readonly JobOperation[];

/** The columns of a row, which may contradict each other. */
type JobColumns = JobProperties & Pick<Job, "status" | "workerId" | "startedAt" | "finishedAt" | "error" | "hasOutput">;

/** Returns whether the columns are consistent with the status. */
function isJob(columns: JobColumns): columns is Job {
  const { status, workerId, startedAt, finishedAt, error } = columns;
  const hasRun = workerId !== undefined && startedAt !== undefined;
  const isFinished = finishedAt !== undefined;
  switch (status) {
    case "IN_QUEUE":
      return workerId === undefined && startedAt === undefined && !isFinished && error === undefined;
    case "IN_PROGRESS":
      return hasRun && !isFinished && error === undefined;
    case "COMPLETED":
      return hasRun && isFinished && error === undefined;
    case "CANCELLED":
      return isFinished && error === undefined;
    case "FAILED":
      return isFinished && error !== undefined;
    case "TIMED_OUT":
      return hasRun && isFinished && error !== undefined;
  }
}

type Row = Readonly<Record<string, unknown>>;
const isRow = (row: unknown): row is Row => typeof row === "object" && row !== null;

/** A job and its worker's last output, as JSON text. */
export interface StoredJob {
  job: Job;
  output: string | undefined;
}

/** Creates parsers for the rows of one store. Rows have system times, because they outlive the service. */
export function createJobRows({ systemChange }: Pick<SteadyClock, "systemChange">) {
  /** One string per endpoint id, shared by all jobs to save memory. */
  const endpointIds = new Map<string, string>();
  function intern(endpointId: string): string {
    const existing = endpointIds.get(endpointId);
    if (existing === undefined) endpointIds.set(endpointId, endpointId);
    return existing ?? endpointId;
  }

  /** Parses `jobColumn`. Uses a single object literal, because assembling a job from parts takes three times the time and memory. */
  function readJob(column: unknown, hasOutput: boolean): Job {
    const values: unknown = JSON.parse(text(column, "row"));
    const record: unknown = Array.isArray(values) ? values[7] : undefined;
    if (!Array.isArray(values) || !Array.isArray(record)) throw unreadable("row");
    const change = systemChange();
    const columns: JobColumns = {
      seq: number(values[0], "seq"),
      id: text(values[1], "id"),
      endpointId: intern(text(values[2], "endpoint_id")),
      operation: oneOf(record[0], "operation", operations),
      lowPriority: record[1] === 1,
      executionTimeout: optionalNumber(record[2], "execution timeout"),
      createdAt: number(record[3], "time of creation"),
      queuedAt: number(record[4], "time in the queue") - change,
      position: number(record[5], "position"),
      expiresAt: number(record[6], "ttl"),
      retries: number(record[7], "retries"),
      crashes: number(record[8], "crashes"),
      chunks: number(values[5], "chunks"),
      chunksRead: number(values[6], "chunks_read"),
      webhook: optionalText(record[9], "webhook"),
      status: oneOf(values[3], "status", jobStatus.options),
      workerId: optionalText(record[10], "worker"),
      startedAt: moved(optionalNumber(record[11], "start"), -change),
      finishedAt: moved(optionalNumber(values[4], "finished_at"), -change),
      error: optionalText(record[12], "error"),
      hasOutput,
    };
    if (!isJob(columns)) throw unreadable("state");
    return columns;
  }

  return {
    /** Parses a row of `jobColumn` and `has_output`. */
    job: {
      parse(row: unknown): Job {
        if (!isRow(row)) throw unreadable("row");
        return readJob(row["job"], row["has_output"] === 1);
      },
    },
    /** Parses a row of `jobColumn` and `output`. */
    stored: {
      parse(row: unknown): StoredJob {
        if (!isRow(row)) throw unreadable("row");
        const output = optionalText(row["output"], "output");
        return { job: readJob(row["job"], output !== undefined), output };
      },
    },
  };
}
