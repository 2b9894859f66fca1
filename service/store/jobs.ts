import { z } from "zod";
import type { Job, JobOperation } from "../jobs/job";
import type { Database } from "./database";

/** A job as it is submitted; ids, times and JSON texts are made by the caller. */
export interface NewJob {
  id: string;
  endpointId: string;
  operation: JobOperation;
  lowPriority: boolean;
  executionTimeout: number | undefined;
  createdAt: number;
  expiresAt: number;
  webhook: string | undefined;
  s3Config: string | undefined;
  input: string;
}

const optional = <Shape extends z.ZodType>(shape: Shape) => shape.nullable().transform((value) => value ?? undefined);
const facts = {
  seq: z.number(),
  id: z.string(),
  endpointId: z.string(),
  operation: z.enum(["run", "runsync", "openai"]),
  lowPriority: z.number().transform((value) => value === 1),
  executionTimeout: optional(z.number()),
  createdAt: z.number(),
  queuedAt: z.number(),
  place: z.number(),
  expiresAt: z.number(),
  retries: z.number(),
  crashes: z.number(),
  chunks: z.number(),
  chunksRead: z.number(),
  webhook: optional(z.string()),
};
const ran = { workerId: z.string(), startedAt: z.number(), finishedAt: z.number() };
const mayHaveRun = {
  workerId: optional(z.string()),
  startedAt: optional(z.number()),
  finishedAt: z.number(),
};
const jobRow = z.discriminatedUnion("status", [
  z.object({ ...facts, status: z.literal("IN_QUEUE") }),
  z.object({ ...facts, status: z.literal("IN_PROGRESS"), workerId: z.string(), startedAt: z.number() }),
  z.object({ ...facts, ...ran, status: z.literal("COMPLETED") }),
  z.object({ ...facts, ...mayHaveRun, status: z.literal("FAILED"), error: z.string() }),
  z.object({ ...facts, ...mayHaveRun, status: z.literal("CANCELLED") }),
  z.object({ ...facts, ...ran, status: z.literal("TIMED_OUT"), error: z.string() }),
]);
const payloadRow = z.object({ input: z.string(), s3Config: optional(z.string()) });

const columns = `seq, id, endpoint_id AS endpointId, operation, status, low_priority AS lowPriority,
  execution_timeout AS executionTimeout, created_at AS createdAt, queued_at AS queuedAt, place, expires_at AS expiresAt,
  retries, crashes, chunks, chunks_read AS chunksRead, webhook,
  worker_id AS workerId, started_at AS startedAt, finished_at AS finishedAt, error`;

/** The tables of jobs, their inputs and outputs. Nothing opens a transaction; what belongs together is wrapped in a transaction by the caller. */
export interface JobStore {
  /** Writes a submission and answers its number and its place in the queue. */
  insert(job: NewJob): { seq: number; place: number };
  /** The place behind all that were given so far. */
  nextPlace(): number;
  find(id: string): Job | undefined;
  /** What the worker gets, as JSON texts. */
  payload(seq: number): { input: string; s3Config: string | undefined } | undefined;
  /** What a job's worker answered last, as JSON text. */
  output(seq: number): string | undefined;
  setOutput(seq: number, output: string | undefined): void;
  /** Writes what may change of a job; `dueAt` is when the supervisor has to look at it next. */
  save(job: Job, dueAt: number): void;
  /** Notes how many stream chunks there are, and how many of them were read. */
  setChunks(seq: number, chunks: number, read: number): void;
  remove(seq: number): void;
  /** Removes all jobs of an endpoint and answers those that were not over. */
  removeEndpoint(endpointId: string): Job[];
  /** Removes the waiting jobs of an endpoint and answers their ids. */
  purge(endpointId: string): string[];
  /** All jobs that wait, each endpoint's in the order of its queue. */
  waiting(): Job[];
  running(): Job[];
  /** Jobs that the supervisor has to look at by `now`, the earliest first. */
  due(now: number, limit: number): Job[];
  /** When it has to look again. */
  nextDue(): number | undefined;
  /** The endpoint's jobs, newest first, older than `before`. */
  page(endpointId: string, before: number, limit: number): Job[];
  /** Ids of endpoints that have jobs. */
  endpoints(): string[];
}

export function createJobStore(database: Database): JobStore {
  const insert =
    database.prepare(`INSERT INTO jobs (seq, id, endpoint_id, operation, status, low_priority, execution_timeout,
    created_at, queued_at, place, expires_at, due_at, webhook) VALUES (?, ?, ?, ?, 'IN_QUEUE', ?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertInput = database.prepare("INSERT INTO job_inputs (seq, input, s3_config) VALUES (?, ?, ?)");
  const save =
    database.prepare(`UPDATE jobs SET status = ?, queued_at = ?, place = ?, expires_at = ?, due_at = ?, started_at = ?,
    finished_at = ?, worker_id = ?, retries = ?, crashes = ?, error = ? WHERE seq = ?`);
  const remove = database.prepare("DELETE FROM jobs WHERE seq = ?");
  const removeEndpoint = database.prepare("DELETE FROM jobs WHERE endpoint_id = ?");
  const open = database.query(
    `SELECT ${columns} FROM jobs WHERE finished_at IS NULL AND status IN ('IN_QUEUE', 'IN_PROGRESS')
      AND endpoint_id = ?`,
    jobRow,
  );
  const idRow = z.object({ id: z.string() });
  const purge = database.query(
    "DELETE FROM jobs WHERE endpoint_id = ? AND finished_at IS NULL AND status = 'IN_QUEUE' RETURNING id",
    idRow,
  );
  const find = database.query(`SELECT ${columns} FROM jobs WHERE id = ?`, jobRow);
  const payload = database.query("SELECT input, s3_config AS s3Config FROM job_inputs WHERE seq = ?", payloadRow);
  const output = database.query("SELECT output FROM job_outputs WHERE seq = ?", z.object({ output: z.string() }));
  const setOutput = database.prepare("INSERT OR REPLACE INTO job_outputs (seq, output) VALUES (?, ?)");
  const removeOutput = database.prepare("DELETE FROM job_outputs WHERE seq = ?");
  const setChunks = database.prepare("UPDATE jobs SET chunks = ?, chunks_read = ? WHERE seq = ?");
  const live = `SELECT ${columns} FROM jobs WHERE finished_at IS NULL AND status`;
  const waiting = database.query(`${live} = 'IN_QUEUE' ORDER BY endpoint_id, place`, jobRow);
  const running = database.query(`${live} = 'IN_PROGRESS' ORDER BY endpoint_id, place`, jobRow);
  const due = database.query(`SELECT ${columns} FROM jobs WHERE due_at <= ? ORDER BY due_at LIMIT ?`, jobRow);
  const nextDue = database.query("SELECT min(due_at) AS dueAt FROM jobs", z.object({ dueAt: optional(z.number()) }));
  const page = database.query(
    `SELECT ${columns} FROM jobs WHERE endpoint_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    jobRow,
  );
  const last = z.object({ last: optional(z.number()) });
  let lastSeq = database.query("SELECT max(seq) AS last FROM jobs", last).get()?.last ?? 0;
  // A job that is over has no place any more; /retry gives it a new one.
  let lastPlace =
    database.query("SELECT max(place) AS last FROM jobs WHERE finished_at IS NULL", last).get()?.last ?? 0;
  const nextPlace = (): number => ++lastPlace;
  // From each endpoint to the next one along the index, past all their jobs.
  const endpoints = database.query(
    `WITH RECURSIVE found (id) AS (
      SELECT min(endpoint_id) FROM jobs
      UNION ALL SELECT (SELECT min(endpoint_id) FROM jobs WHERE endpoint_id > found.id) FROM found WHERE found.id IS NOT NULL
    ) SELECT id FROM found WHERE id IS NOT NULL`,
    idRow,
  );
  return {
    insert: (job) => {
      const place = nextPlace();
      const seq = ++lastSeq;
      insert.run(
        seq,
        job.id,
        job.endpointId,
        job.operation,
        job.lowPriority ? 1 : 0,
        job.executionTimeout ?? null,
        job.createdAt,
        job.createdAt,
        place,
        job.expiresAt,
        job.expiresAt,
        job.webhook ?? null,
      );
      insertInput.run(seq, job.input, job.s3Config ?? null);
      return { seq, place };
    },
    nextPlace,
    find: (id) => find.get(id),
    payload: (seq) => payload.get(seq),
    output: (seq) => output.get(seq)?.output,
    setOutput: (seq, text) => void (text === undefined ? removeOutput.run(seq) : setOutput.run(seq, text)),
    setChunks: (seq, chunks, read) => void setChunks.run(chunks, read, seq),
    save: (job, dueAt) => {
      const started = job.status === "IN_QUEUE" ? undefined : job;
      void save.run(
        job.status,
        job.queuedAt,
        job.place,
        job.expiresAt,
        dueAt,
        started?.startedAt ?? null,
        "finishedAt" in job ? job.finishedAt : null,
        started?.workerId ?? null,
        job.retries,
        job.crashes,
        "error" in job ? job.error : null,
        job.seq,
      );
    },
    remove: (seq) => void remove.run(seq),
    removeEndpoint: (endpointId) => {
      const left = open.all(endpointId);
      removeEndpoint.run(endpointId);
      return left;
    },
    purge: (endpointId) => purge.all(endpointId).map(({ id }) => id),
    waiting: () => waiting.all(),
    running: () => running.all(),
    due: (now, limit) => due.all(now, limit),
    nextDue: () => nextDue.get()?.dueAt,
    page: (endpointId, before, limit) => page.all(endpointId, before, limit),
    endpoints: () => endpoints.all().map(({ id }) => id),
  };
}
