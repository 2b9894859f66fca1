import { ShortLivedMap } from "../short-lived-map";
import type { GroupCommit } from "../store/group-commit";
import type { Job, LiveJob, NewJob } from "./job";

/** What only the worker of a job needs of it. */
export type JobPayload = Pick<NewJob, "input" | "s3Config">;

/** A change of a job that is not in the tables yet; with the payload of a new one. `dueAt` is when a final job is deleted. */
export interface JobChange {
  job: Job;
  dueAt: number;
  payload: JobPayload | undefined;
  /** What a job that is over returned (JSON text), null for nothing; undefined leaves what the row has. */
  output: string | null | undefined;
  /** After how many calls of `flushOlder` the job was deferred first. */
  round: number;
  /** Whether the redo log has this job, with its payload, maybe as it was before. */
  isLogged: boolean;
}

/** What a change brings beside the job's record. */
interface ChangedContent {
  payload?: JobPayload | undefined;
  output?: string | undefined;
}

export interface UnwrittenDeps {
  onRollback: GroupCommit["onRollback"];
  /** Something waits for the tables: `flushOlder` has to come soon, in a transaction. */
  deferred(): void;
  /** The log has enough for a transaction: `flush` has to come in the next one. */
  logIsFull(): void;
  /** Makes changes durable without the tables, all or none. */
  log(changes: JobChange[]): void;
  write(change: JobChange): void;
  writeProgress(seq: number, progress: string | undefined): void;
}

/** Characters of payloads of waiting jobs that are kept in memory: short queues need not read them again. */
const keptPayloads = 16 * 1024 * 1024;
/**
 * What of one transaction is worth being written twice: of more jobs, or more characters of payloads and outputs, the tables have
 * it at once.
 */
const logged = { jobs: 4, payloads: 64 * 1024 } as const;
/** After how many times what was logged at once the tables get it: often enough that nobody waits long for that. */
const logFill = 16;

/** Characters of a payload. */
export const sizeOf = (payload: JobPayload | undefined): number =>
  (payload?.input.length ?? 0) + (payload?.s3Config?.length ?? 0);

/** What jobs changed and the tables do not have yet: each job is written once in a transaction, whatever happened to it there. */
export function createUnwritten({ onRollback, deferred, logIsFull, log, write, writeProgress }: UnwrittenDeps) {
  /** Changes of this transaction. */
  const changes = new ShortLivedMap<number, JobChange>();
  /** What the tables get later: it was logged, or nobody was promised it. */
  const waiting = new ShortLivedMap<number, JobChange>();
  const loggedSeqs = new ShortLivedMap<string, number>();
  const progress = new ShortLivedMap<number, string | undefined>();
  const kept = new ShortLivedMap<number, JobPayload>();
  let keptSize = 0;
  let round = 0;
  let loggedJobs = 0;

  function forget(): void {
    changes.clear();
    progress.clear();
  }
  const noteRollback = (): void => {
    if (changes.size + progress.size === 0) onRollback(forget);
  };
  function wait(change: JobChange): void {
    if (waiting.size === 0) deferred();
    waiting.set(change.job.seq, change);
    if (change.isLogged) loggedSeqs.set(change.job.id, change.job.seq);
  }
  function endWaiting(seq: number): void {
    const change = waiting.get(seq);
    if (!change) return;
    waiting.delete(seq);
    if (change.isLogged) loggedSeqs.delete(change.job.id);
    onRollback(() => wait(change));
  }
  function keepPayload({ job, payload }: JobChange): void {
    const size = sizeOf(payload);
    if (job.status === "IN_QUEUE" && payload && !kept.has(job.seq) && keptSize + size <= keptPayloads) {
      kept.set(job.seq, payload);
      keptSize += size;
    } else if (job.status !== "IN_QUEUE" && kept.has(job.seq)) {
      keptSize -= sizeOf(kept.get(job.seq));
      kept.delete(job.seq);
    }
  }
  /** What is to be written of a job, what was to be written before included. */
  function changeOf(job: Job, dueAt: number, { payload, output }: ChangedContent = {}): JobChange {
    const known = changes.get(job.seq) ?? waiting.get(job.seq);
    const change = {
      job,
      dueAt,
      payload: payload ?? known?.payload,
      output: job.finishedAt === undefined ? null : (output ?? known?.output),
      round: known?.round ?? round,
      isLogged: known?.isLogged ?? false,
    };
    keepPayload(change);
    return change;
  }
  function writeSoon(seq: number): void {
    const change = waiting.get(seq);
    if (!change || changes.has(seq)) return;
    noteRollback();
    changes.set(seq, change);
  }
  /** Writes what was changed in this transaction, and of what waits that which is `due`. Answers whether there was any of it. */
  function flush(due = ({ isLogged }: JobChange): boolean => isLogged): boolean {
    let isAny = changes.size + progress.size > 0;
    for (const change of changes.values()) {
      endWaiting(change.job.seq);
      write(change);
    }
    for (const [seq, change] of waiting) {
      if (!due(change)) continue;
      isAny = true;
      endWaiting(seq);
      write(change);
    }
    for (const [seq, text] of progress) writeProgress(seq, text);
    forget();
    loggedJobs = 0;
    return isAny;
  }
  const isForLog = (): boolean => {
    if (progress.size > 0 || changes.size > logged.jobs) return false;
    let size = 0;
    for (const { payload, output } of changes.values()) size += sizeOf(payload) + (output?.length ?? 0);
    return size <= logged.payloads;
  };

  return {
    /** Notes a change, which is written at the end of this transaction. */
    note(job: Job, dueAt: number, content?: ChangedContent): void {
      noteRollback();
      changes.set(job.seq, changeOf(job, dueAt, content));
    },
    /** Notes a change outside of a transaction. */
    defer: (job: LiveJob, dueAt: number, payload?: JobPayload): void => wait(changeOf(job, dueAt, { payload })),
    noteProgress(seq: number, text: string | undefined): void {
      noteRollback();
      writeSoon(seq);
      progress.set(seq, text);
    },
    /** Writes the job's row in this transaction if it was not: what is beside the row must not be there without it. */
    writeSoon,
    payload: (seq: number): JobPayload | undefined => (changes.get(seq) ?? waiting.get(seq))?.payload ?? kept.get(seq),
    hasProgress: (seq: number): boolean => progress.has(seq),
    progress: (seq: number): string | undefined => progress.get(seq),
    /** What the tables lack of a job that somebody was promised. */
    find(id: string): JobChange | undefined {
      for (const change of changes.values()) if (change.job.id === id) return change;
      const seq = loggedSeqs.get(id);
      return seq === undefined ? undefined : waiting.get(seq);
    },
    /** Forgets payloads that the tables have as well. */
    dropPayloads(): void {
      kept.clear();
      keptSize = 0;
    },
    /** Makes what was changed in this transaction durable without the tables; false when these must have it. */
    log(): boolean {
      if (!isForLog()) return false;
      if (changes.size === 0) return true;
      log([...changes.values()]);
      for (const change of changes.values()) wait({ ...change, isLogged: true });
      loggedJobs += changes.size;
      if (loggedJobs >= logFill * changes.size) logIsFull();
      changes.clear();
      return true;
    },
    /** Writes what was changed in this transaction, and everything that was logged; answers, as the two below, whether there was any. */
    flush: () => flush(),
    /** Writes everything. */
    flushAll: () => flush(() => true),
    /**
     * Writes what was deferred before the last call, and then everything that was logged as well. What came since is often over, or
     * the log full, by the next one.
     */
    flushOlder(): boolean {
      const isOlder = (change: JobChange): boolean => change.round < round;
      const written = [...waiting.values()].some(isOlder) && flush((change) => change.isLogged || isOlder(change));
      round++;
      if (waiting.size > 0) deferred();
      return written;
    },
  };
}
