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
const output = optional(z.string());
const ran = { workerId: z.string(), startedAt: z.number(), finishedAt: z.number(), output };
const mayHaveRun = {
  workerId: optional(z.string()),
  startedAt: optional(z.number()),
  finishedAt: z.number(),
  output,
};
const jobRow = z.discriminatedUnion("status", [
  z.object({ ...facts, status: z.literal("IN_QUEUE") }),
  z.object({ ...facts, status: z.literal("IN_PROGRESS"), workerId: z.string(), startedAt: z.number(), output }),
  z.object({ ...facts, ...ran, status: z.literal("COMPLETED") }),
  z.object({ ...facts, ...mayHaveRun, status: z.literal("FAILED"), error: z.string() }),
  z.object({ ...facts, ...mayHaveRun, status: z.literal("CANCELLED") }),
  z.object({ ...facts, ...ran, status: z.literal("TIMED_OUT"), error: z.string() }),
]);
const pagedRow = jobRow.and(z.object({ seq: z.number() }));
const payloadRow = z.object({ input: z.string(), s3Config: optional(z.string()) });

const columns = `id, endpoint_id AS endpointId, operation, status, low_priority AS lowPriority,
  execution_timeout AS executionTimeout, created_at AS createdAt, queued_at AS queuedAt, place, expires_at AS expiresAt,
  retries, crashes, chunks, chunks_read AS chunksRead, webhook,
  worker_id AS workerId, started_at AS startedAt, finished_at AS finishedAt, error, output`;

/** The tables of jobs and their inputs. Nothing opens a transaction; what belongs together is wrapped in a transaction by the caller. */
export interface JobStore {
  /** Writes a submission and answers its place in the queue. */
  insert(job: NewJob): number;
  /** The place behind all that were given so far. */
  nextPlace(): number;
  find(id: string): Job | undefined;
  /** What the worker gets, as JSON texts. */
  payload(id: string): { input: string; s3Config: string | undefined } | undefined;
  /** Writes what may change of a job; `dueAt` is when the supervisor has to look at it next. */
  save(job: Job, dueAt: number): void;
  remove(id: string): void;
  /** Removes all jobs of an endpoint and answers those that were not over. */
  removeEndpoint(endpointId: string): Job[];
  /** Removes the waiting jobs of an endpoint and answers their ids. */
  purge(endpointId: string): string[];
  /** All jobs that wait, in the order of the queue. */
  waiting(): Job[];
  running(): Job[];
  /** Jobs that the supervisor has to look at by `now`, the earliest first. */
  due(now: number, limit: number): Job[];
  /** When it has to look again. */
  nextDue(): number | undefined;
  /** The endpoint's jobs, newest first, older than `before`. */
  page(endpointId: string, before: number, limit: number): (Job & { seq: number })[];
  /** Ids of endpoints that have jobs. */
  endpoints(): string[];
}

export function createJobStore(database: Database): JobStore {
  const insert =
    database.prepare(`INSERT INTO jobs (id, endpoint_id, operation, status, low_priority, execution_timeout,
    created_at, queued_at, place, expires_at, due_at, webhook) VALUES (?, ?, ?, 'IN_QUEUE', ?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertInput = database.prepare(
    "INSERT INTO job_inputs (seq, input, s3_config) VALUES (last_insert_rowid(), ?, ?)",
  );
  const save =
    database.prepare(`UPDATE jobs SET status = ?, queued_at = ?, place = ?, expires_at = ?, due_at = ?, started_at = ?,
    finished_at = ?, worker_id = ?, retries = ?, crashes = ?, chunks = ?, chunks_read = ?, error = ?, output = ? WHERE id = ?`);
  const remove = database.prepare("DELETE FROM jobs WHERE id = ?");
  const removeEndpoint = database.prepare("DELETE FROM jobs WHERE endpoint_id = ?");
  const open = database.query(
    `SELECT ${columns} FROM jobs WHERE endpoint_id = ? AND status IN ('IN_QUEUE', 'IN_PROGRESS')`,
    jobRow,
  );
  const idRow = z.object({ id: z.string() });
  const purge = database.query("DELETE FROM jobs WHERE endpoint_id = ? AND status = 'IN_QUEUE' RETURNING id", idRow);
  const find = database.query(`SELECT ${columns} FROM jobs WHERE id = ?`, jobRow);
  const payload = database.query(
    "SELECT input, s3_config AS s3Config FROM job_inputs WHERE seq = (SELECT seq FROM jobs WHERE id = ?)",
    payloadRow,
  );
  const waiting = database.query(`SELECT ${columns} FROM jobs WHERE status = 'IN_QUEUE' ORDER BY place`, jobRow);
  const running = database.query(`SELECT ${columns} FROM jobs WHERE status = 'IN_PROGRESS' ORDER BY seq`, jobRow);
  const due = database.query(`SELECT ${columns} FROM jobs WHERE due_at <= ? ORDER BY due_at LIMIT ?`, jobRow);
  const nextDue = database.query("SELECT min(due_at) AS dueAt FROM jobs", z.object({ dueAt: optional(z.number()) }));
  const page = database.query(
    `SELECT seq, ${columns} FROM jobs WHERE endpoint_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    pagedRow,
  );
  const lastPlace = database.query("SELECT max(place) AS place FROM jobs", z.object({ place: optional(z.number()) }));
  let last = lastPlace.get()?.place ?? 0;
  const nextPlace = (): number => ++last;
  const endpoints = database.query("SELECT DISTINCT endpoint_id AS id FROM jobs", idRow);
  return {
    insert: (job) => {
      const place = nextPlace();
      insert.run(
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
      insertInput.run(job.input, job.s3Config ?? null);
      return place;
    },
    nextPlace,
    find: (id) => find.get(id),
    payload: (id) => payload.get(id),
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
        job.chunks,
        job.chunksRead,
        "error" in job ? job.error : null,
        started?.output ?? null,
        job.id,
      );
    },
    remove: (id) => void remove.run(id),
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
