import type { Job, JobFacts, JobOperation } from "./job";

/**
 * Reads rows of jobs by hand. A start may read a million of them and every /status one: a shape that describes each column
 * takes ten times as long. A column of another type is a fault of the store, and throws.
 */
type Row = Readonly<Record<string, unknown>>;

const isRow = (row: unknown): row is Row => typeof row === "object" && row !== null;
const wrong = (column: string): Error => new Error(`the store has a job whose ${column} cannot be read`);

function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw wrong(column);
  return value;
}
function number(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw wrong(column);
  return value;
}
const textOrNone = (row: Row, column: string): string | undefined =>
  row[column] === null ? undefined : text(row, column);
const numberOrNone = (row: Row, column: string): number | undefined =>
  row[column] === null ? undefined : number(row, column);

function operationOf(row: Row): JobOperation {
  const operation = row["operation"];
  if (operation === "run" || operation === "runsync" || operation === "openai") return operation;
  throw wrong("operation");
}

/** The job of a row. */
export function readJob(row: unknown): Job {
  if (!isRow(row)) throw wrong("row");
  const facts: JobFacts = {
    id: text(row, "id"),
    seq: number(row, "seq"),
    endpointId: text(row, "endpoint_id"),
    operation: operationOf(row),
    lowPriority: row["low_priority"] === 1,
    executionTimeout: numberOrNone(row, "execution_timeout"),
    createdAt: number(row, "created_at"),
    queuedAt: number(row, "queued_at"),
    place: number(row, "place"),
    expiresAt: number(row, "expires_at"),
    retries: number(row, "retries"),
    crashes: number(row, "crashes"),
    chunks: number(row, "chunks"),
    chunksRead: number(row, "chunks_read"),
    webhook: textOrNone(row, "webhook"),
  };
  const none = undefined;
  const hasOutput = row["has_output"] === 1;
  const status = row["status"];
  if (status === "IN_QUEUE")
    return { ...facts, status, workerId: none, startedAt: none, finishedAt: none, error: none, hasOutput };
  if (status === "CANCELLED" || status === "FAILED") {
    const finishedAt = number(row, "finished_at");
    const ran = { workerId: textOrNone(row, "worker_id"), startedAt: numberOrNone(row, "started_at"), finishedAt };
    if (status === "CANCELLED") return { ...facts, status, ...ran, error: none, hasOutput };
    return { ...facts, status, ...ran, error: text(row, "error"), hasOutput };
  }
  const workerId = text(row, "worker_id");
  const startedAt = number(row, "started_at");
  if (status === "IN_PROGRESS")
    return { ...facts, status, workerId, startedAt, finishedAt: none, error: none, hasOutput };
  const finishedAt = number(row, "finished_at");
  if (status === "COMPLETED") return { ...facts, status, workerId, startedAt, finishedAt, error: none, hasOutput };
  if (status !== "TIMED_OUT") throw wrong("status");
  return { ...facts, status, workerId, startedAt, finishedAt, error: text(row, "error"), hasOutput };
}

/** A job with what its worker returned last, as JSON text. */
export interface StoredJob {
  job: Job;
  output: string | undefined;
}

/** The job and the output of a row. */
export function readStored(row: unknown): StoredJob {
  const job = readJob(row);
  return { job, output: isRow(row) ? textOrNone(row, "output") : undefined };
}
