import { z } from "zod";
import type { SteadyClock } from "../steady-clock";
import type { Database } from "../store/database";
import { type FinalJob, isFinal, type Job, type LiveJob, type NewJob } from "./job";
import { createJobRows, jobColumn, listedJobColumn, recordOf, type StoredJob } from "./row";

/** The part of a job that is sent only to its worker. */
type JobPayload = Pick<NewJob, "input" | "s3Config">;

export type JobStore = ReturnType<typeof createJobStore>;

const tables = "jobs LEFT JOIN job_progress USING (seq) LEFT JOIN job_streams USING (seq)";
const selectStoredJobs = `SELECT ${jobColumn}, coalesce(output, progress) AS output FROM ${tables}`;
/** A query of jobs without outputs, which may be 20 MB each, and with the beginning of errors. */
export const selectJobs = `SELECT ${listedJobColumn}, output IS NOT NULL OR progress IS NOT NULL AS has_output FROM ${tables}`;
const textOf = (column: string) => z.object({ [column]: z.string() }).transform((row) => row[column] ?? "");

/** Chunks per query; a response may be full before the last chunk. */
const chunkBatch = 64;

/**
 * The tables of jobs, outputs and chunks. With group commit, SQL statements are the largest part of a job's cost, so they are few and
 * write little. Methods that write run within the caller's transaction.
 */
export function createJobStore(database: Database, clock: Pick<SteadyClock, "systemChange">) {
  const insert = database.prepare(`INSERT INTO jobs
    (seq, id, endpoint_id, status, finished_at, due_at, record, input, s3_config) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const updateJob = "UPDATE jobs SET status = ?, finished_at = ?, due_at = ?, record = ?";
  const save = database.prepare(`${updateJob} WHERE seq = ?`);
  const saveOutput = database.prepare(`${updateJob}, output = ? WHERE seq = ?`);
  const rowParsers = createJobRows(clock);
  const find = database.query(`${selectStoredJobs} WHERE id = ?`, rowParsers.stored);
  const previous = database.query(
    `${selectStoredJobs} WHERE endpoint_id = ? AND seq < ? ORDER BY seq DESC LIMIT 1`,
    rowParsers.stored,
  );
  // An unfinished job has no output except a progress update.
  const unfinished = database.query(`${selectJobs} WHERE finished_at IS NULL`, rowParsers.job);
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
  const clearStream = ["job_streams", "job_chunks"].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE seq = ?`),
  );
  const removeProgress = database.prepare("DELETE FROM job_progress WHERE seq = ?");
  const remove = [...clearStream, removeProgress, database.prepare("DELETE FROM jobs WHERE seq = ?")];
  /** Statements that delete the jobs matching a condition. Dependent rows come first, because the condition reads the jobs. */
  const prepareRemoval = (condition: string) => {
    const parts = ["job_streams", "job_chunks", "job_progress"].map((table) =>
      database.prepare(`DELETE FROM ${table} WHERE seq IN (SELECT seq FROM jobs WHERE ${condition})`),
    );
    return [...parts, database.prepare(`DELETE FROM jobs WHERE ${condition}`)];
  };
  const removeEndpoint = prepareRemoval("endpoint_id = ?");
  const removeWaiting = database.prepare("DELETE FROM jobs WHERE seq IN (SELECT value FROM json_each(?))");
  const expire = prepareRemoval(
    "seq IN (SELECT seq FROM jobs WHERE finished_at IS NOT NULL AND due_at <= ? ORDER BY due_at, seq LIMIT ?)",
  );
  const numberRow = z.object({ value: z.number().nullable() }).transform(({ value }) => value ?? undefined);
  const nextExpiry = database.query("SELECT min(due_at) AS value FROM jobs WHERE finished_at IS NOT NULL", numberRow);
  // Skips along the index from one endpoint to the next, without reading their jobs.
  const endpoints = database.query(
    `WITH RECURSIVE found (id) AS (
      SELECT min(endpoint_id) FROM jobs
      UNION ALL SELECT (SELECT min(endpoint_id) FROM jobs WHERE endpoint_id > found.id) FROM found WHERE found.id IS NOT NULL
    ) SELECT id FROM found WHERE id IS NOT NULL`,
    textOf("id"),
  );
  let lastSeq = database.query("SELECT max(seq) AS value FROM jobs", numberRow).get() ?? 0;
  let lastPosition = 0;

  function stateOf(job: Job, dueAt: number | null) {
    const change = clock.systemChange();
    const finishedAt = job.finishedAt === undefined ? null : job.finishedAt + change;
    return [job.status, finishedAt, dueAt, recordOf(job, change)] as const;
  }

  return {
    /** Allocates the number of the next submission. */
    nextSeq: (): number => ++lastSeq,
    /** Allocates the last position in the queue. */
    nextPosition: (): number => ++lastPosition,
    /** Inserts a submitted job, waiting or already running. */
    insert: (job: LiveJob, { input, s3Config }: JobPayload): void =>
      insert.run(job.seq, job.id, job.endpointId, ...stateOf(job, null), input, s3Config ?? null),
    /** Writes a changed unfinished job and removes its previous output. */
    save: (job: LiveJob): void => saveOutput.run(...stateOf(job, null), null, job.seq),
    /** Writes a finished job, which is deleted at `dueAt`; `output` (JSON text) replaces the previous output. */
    saveFinal(job: FinalJob, dueAt: number, output?: string): void {
      if (output === undefined) save.run(...stateOf(job, dueAt), job.seq);
      else saveOutput.run(...stateOf(job, dueAt), output, job.seq);
    },
    find: (id: string): StoredJob | undefined => find.get(id),
    /** The payload for the worker, as JSON texts. */
    payload(seq: number): JobPayload {
      const { input = "{}", s3Config = null } = payload.get(seq) ?? {};
      return { input, s3Config: s3Config ?? undefined };
    },
    /** The last progress update (JSON text) of an unfinished job. */
    progress: (seq: number): string | undefined => progress.get(seq),
    /** Replaces the progress update; undefined removes it. */
    setProgress(seq: number, text: string | undefined): void {
      if (text === undefined) removeProgress.run(seq);
      else setProgress.run(seq, text);
    },
    /** Appends chunks (JSON texts) from `position` on. */
    appendChunks(seq: number, position: number, texts: string[]): void {
      for (const [offset, text] of texts.entries()) appendChunk.run(seq, position + offset, text);
    },
    /** Stores the number of stream chunks and the number of chunks read. */
    setChunks: (seq: number, chunkCount: number, readCount: number): void => setChunks.run(seq, chunkCount, readCount),
    /** Chunks from `position` on: as many as fit into `limit` characters, but at least one. */
    chunks(seq: number, position: number, limit: number): string[] {
      const result: string[] = [];
      for (let size = 0; ; ) {
        const batch = chunks.all(seq, position + result.length);
        for (const text of batch) {
          size += text.length;
          if (result.length > 0 && size > limit) return result;
          result.push(text);
        }
        if (batch.length < chunkBatch) return result;
      }
    },
    clearChunks(seq: number): void {
      for (const command of clearStream) command.run(seq);
    },
    remove(seq: number): void {
      for (const command of remove) command.run(seq);
    },
    removeEndpoint(endpointId: string): void {
      for (const command of removeEndpoint) command.run(endpointId);
    },
    /** Removes waiting jobs, which have neither progress nor chunks. */
    removeWaiting: (seqs: number[]): void => removeWaiting.run(JSON.stringify(seqs)),
    /** All unfinished jobs. Must be called before the first `nextPosition`. Finished jobs need no position: /retry assigns a new one. */
    live(): LiveJob[] {
      const jobs: LiveJob[] = [];
      unfinished.each((job) => {
        if (isFinal(job)) return;
        jobs.push(job);
        lastPosition = Math.max(lastPosition, job.position);
      });
      return jobs;
    },
    /** Removes up to `limit` finished jobs whose retention has ended by `now`. */
    expire(now: number, limit: number): void {
      for (const command of expire) command.run(now, limit);
    },
    /** The time at which the next finished job is removed. */
    nextExpiry: (): number | undefined => nextExpiry.get(),
    /** The endpoint's newest job with a number below `before`. */
    previous: (endpointId: string, before: number): StoredJob | undefined => previous.get(endpointId, before),
    /** Ids of endpoints that have jobs. */
    endpoints: (): string[] => endpoints.all(),
  };
}
