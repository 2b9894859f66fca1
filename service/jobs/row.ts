import { jobStatus } from "serverless-compute-api/shapes";
import type { Job, JobFacts, JobOperation } from "./job";

/**
 * Properties that no SQL statement searches, as one JSON array in the order of existing stores. Separate columns are slower to read,
 * and a start may read a million jobs.
 */
export const recordOf = (job: Job): string =>
  JSON.stringify([
    job.operation,
    job.lowPriority ? 1 : 0,
    job.executionTimeout,
    job.createdAt,
    job.queuedAt,
    job.place,
    job.expiresAt,
    job.retries,
    job.crashes,
    job.webhook,
    job.workerId,
    job.startedAt,
    job.error,
  ]);

/** The properties of every job, as one column. */
export const jobColumn = `json_array(seq, id, endpoint_id, status, finished_at, coalesce(chunks, 0), coalesce(chunks_read, 0),
  json(record)) AS job`;

const wrong = (column: string): Error => new Error(`the store has a job whose ${column} cannot be read`);

// Parsed by hand, because a zod schema takes ten times as long.
function text(value: unknown, column: string): string {
  if (typeof value !== "string") throw wrong(column);
  return value;
}
function number(value: unknown, column: string): number {
  if (typeof value !== "number") throw wrong(column);
  return value;
}
const textOrNone = (value: unknown, column: string): string | undefined =>
  value === null ? undefined : text(value, column);
const numberOrNone = (value: unknown, column: string): number | undefined =>
  value === null ? undefined : number(value, column);
function oneOf<Value extends string>(value: unknown, column: string, values: readonly Value[]): Value {
  const found = values.find((candidate) => candidate === value);
  if (found === undefined) throw wrong(column);
  return found;
}

const operations = ["run", "runsync", "openai"] as const satisfies readonly JobOperation[];

/** The columns of a row, which may contradict each other. */
type Read = JobFacts & Pick<Job, "status" | "workerId" | "startedAt" | "finishedAt" | "error" | "hasOutput">;

/** Returns whether the columns are consistent with the status. */
function isJob(read: Read): read is Job {
  const { status, workerId, startedAt, finishedAt, error } = read;
  const ran = workerId !== undefined && startedAt !== undefined;
  const over = finishedAt !== undefined;
  switch (status) {
    case "IN_QUEUE":
      return workerId === undefined && startedAt === undefined && !over && error === undefined;
    case "IN_PROGRESS":
      return ran && !over && error === undefined;
    case "COMPLETED":
      return ran && over && error === undefined;
    case "CANCELLED":
      return over && error === undefined;
    case "FAILED":
      return over && error !== undefined;
    case "TIMED_OUT":
      return ran && over && error !== undefined;
  }
}

type Row = Readonly<Record<string, unknown>>;
const isRow = (row: unknown): row is Row => typeof row === "object" && row !== null;

/** A job and its worker's last output, as JSON text. */
export interface StoredJob {
  job: Job;
  output: string | undefined;
}

/** Creates parsers for the rows of one store. */
export function createJobRows() {
  /** One string per endpoint id, shared by all jobs to save memory. */
  const endpointIds = new Map<string, string>();
  function shared(endpointId: string): string {
    const known = endpointIds.get(endpointId);
    if (known === undefined) endpointIds.set(endpointId, endpointId);
    return known ?? endpointId;
  }

  /** Parses `jobColumn`. Uses a single object literal, because assembling a job from parts takes three times the time and memory. */
  function readJob(column: unknown, hasOutput: boolean): Job {
    const values: unknown = JSON.parse(text(column, "row"));
    const record: unknown = Array.isArray(values) ? values[7] : undefined;
    if (!Array.isArray(values) || !Array.isArray(record)) throw wrong("row");
    const read: Read = {
      seq: number(values[0], "seq"),
      id: text(values[1], "id"),
      endpointId: shared(text(values[2], "endpoint_id")),
      operation: oneOf(record[0], "operation", operations),
      lowPriority: record[1] === 1,
      executionTimeout: numberOrNone(record[2], "execution timeout"),
      createdAt: number(record[3], "time of creation"),
      queuedAt: number(record[4], "time in the queue"),
      place: number(record[5], "place"),
      expiresAt: number(record[6], "ttl"),
      retries: number(record[7], "retries"),
      crashes: number(record[8], "crashes"),
      chunks: number(values[5], "chunks"),
      chunksRead: number(values[6], "chunks_read"),
      webhook: textOrNone(record[9], "webhook"),
      status: oneOf(values[3], "status", jobStatus.options),
      workerId: textOrNone(record[10], "worker"),
      startedAt: numberOrNone(record[11], "start"),
      finishedAt: numberOrNone(values[4], "finished_at"),
      error: textOrNone(record[12], "error"),
      hasOutput,
    };
    if (!isJob(read)) throw wrong("state");
    return read;
  }

  return {
    /** Parses a row of `jobColumn` and `has_output`. */
    job: {
      parse(row: unknown): Job {
        if (!isRow(row)) throw wrong("row");
        return readJob(row["job"], row["has_output"] === 1);
      },
    },
    /** Parses a row of `jobColumn` and `output`. */
    stored: {
      parse(row: unknown): StoredJob {
        if (!isRow(row)) throw wrong("row");
        const output = textOrNone(row["output"], "output");
        return { job: readJob(row["job"], output !== undefined), output };
      },
    },
  };
}
