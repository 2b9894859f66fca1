import { z } from "zod";
import type { Database } from "../store/database";
import type { GroupCommit } from "../store/group-commit";
import type { Statement } from "../store/redo-log";
import type { JobCounters } from "./counters";
import { type FinalJob, isOver, type Job, type LiveJob } from "./job";
import { createJobRows, jobColumn, recordOf, type StoredJob } from "./row";
import { createUnwritten, type JobChange, type JobPayload } from "./unwritten";

export type JobStore = ReturnType<typeof createJobStore>;

const tables = "jobs LEFT JOIN job_progress USING (seq) LEFT JOIN job_streams USING (seq)";
const joined = `SELECT ${jobColumn}, coalesce(output, progress) AS output FROM ${tables}`;
/** Without outputs, which may be 20 MB each. */
const lean = `SELECT ${jobColumn}, output IS NOT NULL OR progress IS NOT NULL AS has_output FROM ${tables}`;
const ofEndpoint = "WHERE endpoint_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?";
const textOf = (column: string) => z.object({ [column]: z.string() }).transform((row) => row[column] ?? "");

/** Chunks read at once: an answer may be full long before the last one. */
const chunkBatch = 64;

export interface JobStoreDeps {
  groupCommit: Pick<GroupCommit, "now" | "onRollback">;
  /** Written with the jobs that they count. */
  counters: Pick<JobCounters, "write" | "unlogged">;
  /** Something waits for the tables: `flushOlder` has to come soon, in a transaction. */
  deferred(): void;
  /** The log has enough for a transaction: `flush` has to come in the next one, nobody's. */
  logIsFull(): void;
}

/**
 * The tables of jobs and their outputs and chunks. The statements are few and write little: with group commit they
 * are the largest part of what a job costs. Nothing opens a transaction; the caller wraps what belongs together.
 */
export function createJobStore(database: Database, { groupCommit, counters, ...deps }: JobStoreDeps) {
  const { redoLog } = database;
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

  /** The statement that writes a change, of a job that is new or one that is there already. */
  function statementOf({ job, dueAt, payload: content, output }: JobChange, isNew: boolean): Statement {
    const { seq, status } = job;
    const state = [status, job.finishedAt ?? null, dueAt, recordOf(job)] as const;
    if (content && isNew) {
      const { input, s3Config } = content;
      return [insert, [seq, job.id, job.endpointId, ...state, output ?? null, input, s3Config ?? null]];
    }
    return output === undefined ? [save, [...state, seq]] : [saveOutput, [...state, output, seq]];
  }

  const unwritten = createUnwritten({
    ...deps,
    onRollback: groupCommit.onRollback,
    log(changes) {
      const written = changes.map((change) => statementOf(change, !change.isLogged));
      redoLog.append([...written, ...counters.unlogged()]);
    },
    write(change) {
      const [command, params] = statementOf(change, true);
      command.run(...params);
    },
    writeProgress: (seq, text) => void (text === undefined ? removeProgress.run(seq) : setProgress.run(seq, text)),
  });
  /** With what was logged always goes what it counted: the log is empty then. */
  function toTables(flush: () => boolean): void {
    if (!flush()) return;
    counters.write();
    if (!redoLog.isEmpty()) redoLog.settle();
  }
  /** Writes into the tables what was changed in this transaction, and what the log has. */
  const flush = (): void => toTables(unwritten.flush);
  /** The same with all that was deferred. */
  const flushAll = (): void => toTables(unwritten.flushAll);
  /** Rows are removed from the tables: these have every job then, and memory keeps nothing of those that go. */
  function beforeRemoval(): void {
    flushAll();
    unwritten.dropPayloads();
  }
  /** The last progress update (JSON text) of a job that is not over. */
  const progressOf = (seq: number): string | undefined =>
    unwritten.hasProgress(seq) ? unwritten.progress(seq) : progress.get(seq);
  function outputOf({ job, payload: content, output }: JobChange): string | undefined {
    if (!isOver(job) || output === null) return progressOf(job.seq);
    return content ? output : (output ?? find.get(job.id)?.output);
  }

  return {
    /** A number for a submission, above all that were given so far. */
    nextSeq: (): number => ++lastSeq,
    /** The place behind all that were given so far. */
    nextPlace: (): number => ++lastPlace,
    /** Writes a submission, which waits or runs at once. */
    insert: (job: LiveJob, content: JobPayload): void => unwritten.note(job, job.expiresAt, { payload: content }),
    /** Writes what may change of a job that is not over; what it returned before, if it was over, goes. */
    save: (job: LiveJob, dueAt: number): void => unwritten.note(job, dueAt),
    /** The same outside of a transaction; it is written with the next change of the job, `flushOlder` or `flushAll`. */
    defer: unwritten.defer,
    /** Writes what may change of a job that is over and is deleted at `dueAt`; an `output` (JSON text) takes the place of another. */
    saveOver: (job: FinalJob, dueAt: number, output?: string): void => unwritten.note(job, dueAt, { output }),
    find: (id: string): StoredJob | undefined => {
      if (database.isWriting()) flush();
      const change = unwritten.find(id);
      if (!change) return find.get(id);
      const output = outputOf(change);
      return { job: { ...change.job, hasOutput: output !== undefined }, output };
    },
    /** What the worker gets, as JSON texts. */
    payload: (seq: number): JobPayload | undefined => {
      const known = unwritten.payload(seq);
      if (known) return known;
      const found = payload.get(seq);
      return found && { input: found.input, s3Config: found.s3Config ?? undefined };
    },
    progress: progressOf,
    setProgress: unwritten.noteProgress,
    /**
     * The end of each transaction: makes durable what it changed, each job once; until then `insert`, `save` and `setProgress` only
     * remember. Where nothing else was written the redo log has it, and the tables at the next transaction that writes.
     */
    commit(): void {
      if (database.isWriting() || !unwritten.log()) flush();
    },
    flush,
    flushAll,
    /** The same with what was deferred before the last call of this. */
    flushOlder: (): void => toTables(unwritten.flushOlder),
    /** Keeps chunks (JSON texts) from `position` on. */
    appendChunks: (seq: number, position: number, texts: string[]): void => {
      unwritten.writeSoon(seq);
      for (const [at, text] of texts.entries()) appendChunk.run(seq, position + at, text);
    },
    /** Notes how many stream chunks there are, and how many of them were read. */
    setChunks: (seq: number, count: number, read: number): void => void setChunks.run(seq, count, read),
    /** Chunks from a position on, as many as fit into `limit` characters, at least one. */
    chunks: (seq: number, position: number, limit: number): string[] => {
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
    clearChunks: (seq: number): void => {
      for (const command of clear) command.run(seq);
    },
    remove: (seq: number): void => {
      beforeRemoval();
      for (const command of remove) command.run(seq);
    },
    /** Removes an endpoint's jobs. */
    removeEndpoint: (endpointId: string): void => {
      beforeRemoval();
      for (const command of removeEndpoint) command.run(endpointId);
    },
    /** Removes an endpoint's waiting jobs. */
    purge: (endpointId: string): void => {
      beforeRemoval();
      purge.run(endpointId);
    },
    /** All jobs that are not over. */
    live: (visit: (job: LiveJob) => void): void =>
      live.each((job) => {
        if (job.status === "IN_QUEUE" || job.status === "IN_PROGRESS") visit(job);
      }),
    /** Removes final jobs whose time was over by `now`, up to `limit`; returns how many. */
    expire: (now: number, limit: number): number => {
      flush();
      return expire.reduce((_count, command) => command.run(now, limit), 0);
    },
    /** When the next final job is to be removed. */
    nextExpiry: (): number | undefined => {
      if (!redoLog.isEmpty()) groupCommit.now(flush);
      return nextExpiry.get();
    },
    /** The endpoint's jobs, newest first, older than `before`, as the tables have them. */
    page: (endpointId: string, before: number, limit: number): StoredJob[] => page.all(endpointId, before, limit),
    /** The same without outputs. */
    summaries: (endpointId: string, before: number, limit: number): Job[] => summaries.all(endpointId, before, limit),
    /** Ids of endpoints that have jobs. */
    endpoints: (): string[] => endpoints.all(),
  };
}
