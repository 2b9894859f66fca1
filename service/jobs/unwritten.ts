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
}

/** What a change brings beside the job's record. */
interface ChangedContent {
  payload?: JobPayload | undefined;
  output?: string | undefined;
}

export interface UnwrittenDeps {
  onRollback: GroupCommit["onRollback"];
  /** Something was deferred: `flushOlder` has to come soon, in a transaction. */
  deferred(): void;
  write(change: JobChange): void;
  writeProgress(seq: number, progress: string | undefined): void;
}

/** Characters of payloads of waiting jobs that are kept in memory: short queues need not read them again. */
const keptPayloads = 16 * 1024 * 1024;

/** What jobs changed and the tables do not have yet: each job is written once in a transaction, whatever happened to it there. */
export function createUnwritten({ onRollback, deferred, write, writeProgress }: UnwrittenDeps) {
  /** Changes of this transaction, and those that were deferred. */
  const changes = new Map<number, JobChange>();
  const waiting = new Map<number, JobChange>();
  const progress = new Map<number, string | undefined>();
  const kept = new Map<number, JobPayload>();
  let keptSize = 0;
  let round = 0;

  function forget(): void {
    changes.clear();
    progress.clear();
  }
  const noteRollback = (): void => {
    if (changes.size + progress.size === 0) onRollback(forget);
  };
  function endWaiting(seq: number): void {
    const change = waiting.get(seq);
    waiting.delete(seq);
    onRollback(() => void (change && waiting.set(seq, change)));
  }
  function keepPayload({ job, payload }: JobChange): void {
    const size = payload?.input.length ?? 0;
    if (job.status === "IN_QUEUE" && payload && !kept.has(job.seq) && keptSize + size <= keptPayloads) {
      kept.set(job.seq, payload);
      keptSize += size;
    } else if (job.status !== "IN_QUEUE" && kept.has(job.seq)) {
      keptSize -= kept.get(job.seq)?.input.length ?? 0;
      kept.delete(job.seq);
    }
  }
  function remember(into: typeof changes, job: Job, dueAt: number, { payload, output }: ChangedContent = {}): void {
    const known = changes.get(job.seq) ?? waiting.get(job.seq);
    const change = {
      job,
      dueAt,
      payload: payload ?? known?.payload,
      output: job.finishedAt === undefined ? null : (output ?? known?.output),
      round: known?.round ?? round,
    };
    into.set(job.seq, change);
    keepPayload(change);
  }
  function writeSoon(seq: number): void {
    const change = waiting.get(seq);
    if (!change || changes.has(seq)) return;
    noteRollback();
    changes.set(seq, change);
  }
  function flush(): void {
    for (const change of changes.values()) {
      const { seq } = change.job;
      if (waiting.has(seq)) endWaiting(seq);
      write(change);
    }
    for (const [seq, text] of progress) writeProgress(seq, text);
    forget();
  }
  function writeWaiting(before: number): void {
    for (const [seq, change] of waiting) {
      if (change.round >= before) continue;
      write(change);
      endWaiting(seq);
    }
  }

  return {
    /** Notes a change, which is written at the end of this transaction. */
    note(job: Job, dueAt: number, content?: ChangedContent): void {
      noteRollback();
      remember(changes, job, dueAt, content);
    },
    /** Notes a change outside of a transaction. */
    defer(job: LiveJob, dueAt: number, payload?: JobPayload): void {
      if (waiting.size === 0) deferred();
      remember(waiting, job, dueAt, { payload });
    },
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
    /** Forgets payloads that the tables have as well. */
    dropPayloads(): void {
      kept.clear();
      keptSize = 0;
    },
    /** Writes what was changed in this transaction. */
    flush,
    /** Writes everything. */
    flushAll(): void {
      flush();
      writeWaiting(Number.POSITIVE_INFINITY);
    },
    /** Writes what was deferred before the last call: what came since is often over by the next one. */
    flushOlder(): void {
      flush();
      writeWaiting(round);
      round++;
      if (waiting.size > 0) deferred();
    },
  };
}
