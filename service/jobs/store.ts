import { z } from "zod";
import type { Database } from "../store/database";
import type { FinalJob, Job, LiveJob } from "./job";
import { createJobRows, jobColumn, recordOf, type StoredJob } from "./row";
import { createUnwritten, type JobChange, type JobPayload, type UnwrittenDeps } from "./unwritten";

/**
 * The tables of jobs and their outputs and chunks. The statements are few and write little: with group commit they
 * are the largest part of what a job costs. Nothing opens a transaction; the caller wraps what belongs together.
 */
export interface JobStore {
  /** A number for a submission, above all that were given so far. */
  nextSeq(): number;
  /** The place behind all that were given so far. */
  nextPlace(): number;
  /** Writes a submission, which waits or runs at once. */
  insert(job: LiveJob, payload: JobPayload): void;
  /** Writes what may change of a job that is not over; what it returned before, if it was over, goes. */
  save(job: LiveJob, dueAt: number): void;
  /** The same outside of a transaction; it is written with the next change of the job, `flushOlder` or `flushAll`. */
  defer(job: LiveJob, dueAt: number, payload?: JobPayload): void;
  /** Writes what may change of a job that is over and is deleted at `dueAt`; an `output` (JSON text) takes the place of another. */
  saveOver(job: FinalJob, dueAt: number, output?: string): void;
  find(id: string): StoredJob | undefined;
  /** What the worker gets, as JSON texts. */
  payload(seq: number): JobPayload | undefined;
  /** The last progress update (JSON text) of a job that is not over. */
  progress(seq: number): string | undefined;
  setProgress(seq: number, progress: string | undefined): void;
  /**
   * Writes what was changed in this transaction, each job once, and before its end: until then `insert`, `save` and `setProgress`
   * only remember. What was deferred is left for `flushOlder` and `flushAll`.
   */
  flush(): void;
  /** Writes what was deferred as well. */
  flushAll(): void;
  /** Writes what was deferred before the last call of this. */
  flushOlder(): void;
  /** Keeps chunks (JSON texts) from `position` on. */
  appendChunks(seq: number, position: number, chunks: string[]): void;
  /** Notes how many stream chunks there are, and how many of them were read. */
  setChunks(seq: number, chunks: number, read: number): void;
  /** Chunks from a position on, as many as fit into `limit` characters, at least one. */
  chunks(seq: number, position: number, limit: number): string[];
  clearChunks(seq: number): void;
  remove(seq: number): void;
  /** Removes an endpoint's jobs. */
  removeEndpoint(endpointId: string): void;
  /** Removes an endpoint's waiting jobs. */
  purge(endpointId: string): void;
  /** All jobs that are not over. */
  live(visit: (job: LiveJob) => void): void;
  /** Removes final jobs whose time was over by `now`, up to `limit`; returns how many. */
  expire(now: number, limit: number): number;
  /** When the next final job is to be removed. */
  nextExpiry(): number | undefined;
  /** The endpoint's jobs, newest first, older than `before`. */
  page(endpointId: string, before: number, limit: number): StoredJob[];
  /** The same without outputs. */
  summaries(endpointId: string, before: number, limit: number): Job[];
  /** Ids of endpoints that have jobs. */
  endpoints(): string[];
}

const tables = "jobs LEFT JOIN job_progress USING (seq) LEFT JOIN job_streams USING (seq)";
const joined = `SELECT ${jobColumn}, coalesce(output, progress) AS output FROM ${tables}`;
/** Without outputs, which may be 20 MB each. */
const lean = `SELECT ${jobColumn}, output IS NOT NULL OR progress IS NOT NULL AS has_output FROM ${tables}`;
const ofEndpoint = "WHERE endpoint_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?";
const textOf = (column: string) => z.object({ [column]: z.string() }).transform((row) => row[column] ?? "");

/** Chunks read at once: an answer may be full long before the last one. */
const chunkBatch = 64;

export function createJobStore(database: Database, deps: Pick<UnwrittenDeps, "onRollback" | "deferred">): JobStore {
  const insert = database.prepare(`INSERT INTO jobs
    (seq, id, endpoint_id, status, finished_at, due_at, record, output, input, s3_config) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const changed = "UPDATE jobs SET status = ?, finished_at = ?, due_at = ?, record = ?";
  const save = database.prepare(`${changed} WHERE seq = ?`);
  const saveOutput = database.prepare(`${changed}, output = ? WHERE seq = ?`);
  const rows = createJobRows();
  const find = database.query(`${joined} WHERE id = ?`, rows.stored);
  const page = database.query(`${joined} ${ofEndpoint}`, rows.stored);
  const summaries = database.query(`${lean} ${ofEndpoint}`, rows.job);
  // Whatever is not over has no output but a progress update.
  const live = database.query(`${lean} WHERE finished_at IS NULL`, rows.job);
  const payload = database.query(
    "SELECT input, s3_config AS s3Config FROM jobs WHERE seq = ?",
    z.object({ input: z.string(), s3Config: z.string().nullable() }),
  );
  const progress = database.query("SELECT progress FROM job_progress WHERE seq = ?", textOf("progress"));
  const setProgress = database.prepare("INSERT OR REPLACE INTO job_progress (seq, progress) VALUES (?, ?)");
  const appendChunk = database.prepare("INSERT INTO job_chunks (seq, position, chunk) VALUES (?, ?, ?)");
  const setChunks = database.prepare("INSERT OR REPLACE INTO job_streams (seq, chunks, chunks_read) VALUES (?, ?, ?)");
  const chunks = database.query(
    `SELECT chunk FROM job_chunks WHERE seq = ? AND position >= ? ORDER BY position LIMIT ${chunkBatch}`,
    textOf("chunk"),
  );
  const clear = ["job_streams", "job_chunks"].map((table) => database.prepare(`DELETE FROM ${table} WHERE seq = ?`));
  const removeProgress = database.prepare("DELETE FROM job_progress WHERE seq = ?");
  const remove = [...clear, removeProgress, database.prepare("DELETE FROM jobs WHERE seq = ?")];
  /** Deletes jobs by a condition, with what belongs to them; the jobs last, since the condition is about them. */
  const removing = (condition: string) => {
    const parts = ["job_streams", "job_chunks", "job_progress"].map((table) =>
      database.prepare(`DELETE FROM ${table} WHERE seq IN (SELECT seq FROM jobs WHERE ${condition})`),
    );
    return [...parts, database.prepare(`DELETE FROM jobs WHERE ${condition}`)];
  };
  const removeEndpoint = removing("endpoint_id = ?");
  // Past the endpoint's history, which may be long.
  const purge = database.prepare(
    "DELETE FROM jobs INDEXED BY jobs_live WHERE finished_at IS NULL AND status = 'IN_QUEUE' AND endpoint_id = ?",
  );
  const expire = removing(
    "seq IN (SELECT seq FROM jobs WHERE finished_at IS NOT NULL AND due_at <= ? ORDER BY due_at, seq LIMIT ?)",
  );
  const numberRow = z.object({ value: z.number().nullable() }).transform(({ value }) => value ?? undefined);
  const nextExpiry = database.query("SELECT min(due_at) AS value FROM jobs WHERE finished_at IS NOT NULL", numberRow);
  // From each endpoint to the next one along the index, past all their jobs.
  const endpoints = database.query(
    `WITH RECURSIVE found (id) AS (
      SELECT min(endpoint_id) FROM jobs
      UNION ALL SELECT (SELECT min(endpoint_id) FROM jobs WHERE endpoint_id > found.id) FROM found WHERE found.id IS NOT NULL
    ) SELECT id FROM found WHERE id IS NOT NULL`,
    textOf("id"),
  );
  let lastSeq = database.query("SELECT max(seq) AS value FROM jobs", numberRow).get() ?? 0;
  // A job that is over has no place any more; /retry gives it a new one.
  let lastPlace =
    database.query("SELECT max(record ->> 5) AS value FROM jobs WHERE finished_at IS NULL", numberRow).get() ?? 0;

  function write({ job, dueAt, payload: content, output }: JobChange): void {
    const { seq, status } = job;
    const finishedAt = job.finishedAt ?? null;
    const record = recordOf(job);
    if (content) {
      const { input, s3Config } = content;
      insert.run(
        seq,
        job.id,
        job.endpointId,
        status,
        finishedAt,
        dueAt,
        record,
        output ?? null,
        input,
        s3Config ?? null,
      );
    } else if (output === undefined) save.run(status, finishedAt, dueAt, record, seq);
    else saveOutput.run(status, finishedAt, dueAt, record, output, seq);
  }

  const unwritten = createUnwritten({
    ...deps,
    write,
    writeProgress: (seq, text) => void (text === undefined ? removeProgress.run(seq) : setProgress.run(seq, text)),
  });
  const { flush, flushAll, flushOlder } = unwritten;

  return {
    nextSeq: () => ++lastSeq,
    nextPlace: () => ++lastPlace,
    insert: (job, content) => unwritten.note(job, job.expiresAt, { payload: content }),
    save: unwritten.note,
    defer: unwritten.defer,
    saveOver: (job, dueAt, output) => unwritten.note(job, dueAt, { output }),
    find: (id) => {
      flush();
      return find.get(id);
    },
    payload: (seq) => {
      const known = unwritten.payload(seq);
      if (known) return known;
      const found = payload.get(seq);
      return found && { input: found.input, s3Config: found.s3Config ?? undefined };
    },
    progress: (seq) => (unwritten.hasProgress(seq) ? unwritten.progress(seq) : progress.get(seq)),
    setProgress: unwritten.noteProgress,
    flush,
    flushAll,
    flushOlder,
    appendChunks: (seq, position, texts) => {
      unwritten.writeSoon(seq);
      for (const [at, text] of texts.entries()) appendChunk.run(seq, position + at, text);
    },
    setChunks: (seq, count, read) => void setChunks.run(seq, count, read),
    chunks: (seq, position, limit) => {
      const texts: string[] = [];
      for (let size = 0; ; ) {
        const batch = chunks.all(seq, position + texts.length);
        for (const text of batch) {
          size += text.length;
          if (texts.length > 0 && size > limit) return texts;
          texts.push(text);
        }
        if (batch.length < chunkBatch) return texts;
      }
    },
    clearChunks: (seq) => {
      for (const command of clear) command.run(seq);
    },
    remove: (seq) => {
      flushAll();
      for (const command of remove) command.run(seq);
    },
    removeEndpoint: (endpointId) => {
      flushAll();
      unwritten.dropPayloads();
      for (const command of removeEndpoint) command.run(endpointId);
    },
    purge: (endpointId) => {
      flushAll();
      unwritten.dropPayloads();
      purge.run(endpointId);
    },
    live: (visit) =>
      live.each((job) => {
        if (job.status === "IN_QUEUE" || job.status === "IN_PROGRESS") visit(job);
      }),
    expire: (now, limit) => {
      flush();
      return expire.reduce((_count, command) => command.run(now, limit), 0);
    },
    nextExpiry: () => nextExpiry.get(),
    page: (endpointId, before, limit) => page.all(endpointId, before, limit),
    summaries: (endpointId, before, limit) => summaries.all(endpointId, before, limit),
    endpoints: () => endpoints.all(),
  };
}
