import { setImmediate as nextTurn } from "node:timers/promises";
import type { JobStatus } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { SteadyClock } from "../steady-clock";
import type { Database } from "../store/database";
import { canTransition, type Job, transitions } from "./job";
import type { ActiveJobs } from "./memory";
import { createJobRows, errorIndex, type StoredJob } from "./row";
import { type JobStore, selectJobs } from "./store";

/** Condition for jobs of an endpoint; an absent property matches every job. */
export interface JobFilter {
  status?: JobStatus | undefined;
  /** Part of the id or of the error, whatever the case of its ASCII letters. */
  text?: string | undefined;
}

/** One page of an endpoint's jobs. `before` is the cursor of the next page; undefined on the last page. */
export interface JobPage<Entry> {
  jobs: Entry[];
  before: number | undefined;
}

export type JobList = ReturnType<typeof createJobList>;

/** Rows that are read in one turn of the event loop: about 3 ms, or 100 ms if all have the longest errors. */
const batchSize = 1000;

/** Total length of outputs and errors at which a page of results ends regardless of its limit, in characters: outputs may be 20 MB each. */
const maxPageSize = 8 * 1024 * 1024;

/** The number of no job: above all of them. */
export const maxSeq = Number.MAX_SAFE_INTEGER;

const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;

/**
 * Lookup and lists of jobs: unfinished jobs from memory, finished jobs from the store. A long search leaves the event loop to other work
 * between its batches. `isExpired` returns whether a job is hidden from clients.
 */
export function createJobList(
  database: Database,
  active: Pick<ActiveJobs, "get">,
  store: Pick<JobStore, "find" | "previous" | "progress" | "payload">,
  isExpired: (job: Job) => boolean,
  clock: Pick<SteadyClock, "systemChange">,
) {
  const isVisible = (job: Job): boolean => !isExpired(job);
  /** The state of a stored job, which may be newer than its row. */
  const currentOf = (job: Job): Job => active.get(job.id) ?? job;
  // Only these states have an error; the columns are read before the record, which costs more.
  const matchingJobs = database.query(
    `${selectJobs} WHERE endpoint_id = ?1 AND seq < ?2 AND seq >= ?3 AND (?4 IS NULL OR status = ?4) AND (?5 IS NULL
      OR id LIKE ?5 ESCAPE '\\'
      OR (status IN ('FAILED', 'TIMED_OUT') AND record ->> ${errorIndex} LIKE ?5 ESCAPE '\\'))
      ORDER BY seq DESC LIMIT ?6`,
    createJobRows(clock).job,
  );
  const batchStart = database.query(
    "SELECT min(seq) AS seq FROM (SELECT seq FROM jobs WHERE endpoint_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?)",
    z.object({ seq: z.number().nullable() }),
  );

  /** Current states of up to `limit` jobs whose rows match, with numbers below `before`, newest first. */
  async function findMatching(
    endpointId: string,
    { status, text }: JobFilter,
    before: number,
    limit: number,
  ): Promise<Job[]> {
    const pattern = text === undefined ? null : patternOf(text);
    const found: Job[] = [];
    for (let end = before; ; ) {
      const start = batchStart.get(endpointId, end, batchSize)?.seq ?? undefined;
      if (start === undefined) return found;
      const rows = matchingJobs.all(endpointId, end, start, status ?? null, pattern, limit - found.length);
      // Before other work may finish jobs: then their rows are outdated, and memory does not have them.
      found.push(...rows.map(currentOf));
      if (found.length >= limit) return found;
      end = start;
      await nextTurn();
    }
  }

  /** The job with its output, if it is visible to clients. */
  function find(endpointId: string, id: string): StoredJob | undefined {
    const job = active.get(id);
    const hasOutput = job?.status === "IN_PROGRESS" && job.hasOutput;
    const found = job ? { job, output: hasOutput ? store.progress(job.seq) : undefined } : store.find(id);
    return found?.job.endpointId === endpointId && isVisible(found.job) ? found : undefined;
  }

  return {
    find,

    /** The job, even if it is hidden from clients. */
    get: (id: string): Job | undefined => active.get(id) ?? store.find(id)?.job,

    /** Jobs of the endpoint before `cursor` with their outputs, newest first: up to `limit`, as many as fit, but at least one. */
    results(endpointId: string, cursor: number, limit: number): JobPage<StoredJob> {
      const jobs: StoredJob[] = [];
      let before = cursor;
      for (let size = 0; ; ) {
        // One by one, because a page may end after the first. One extra row shows whether there is another page.
        const stored = store.previous(endpointId, before);
        if (!stored) return { jobs, before: undefined };
        if (jobs.length === limit) return { jobs, before };
        const { output } = stored;
        const job = currentOf(stored.job);
        if (isVisible(job)) {
          size += (output?.length ?? 0) + (job.error?.length ?? 0);
          if (jobs.length > 0 && size > maxPageSize) return { jobs, before };
          jobs.push({ job, output });
        }
        before = job.seq;
      }
    },

    /** Up to `limit` matching jobs of the endpoint with numbers below `before`, without outputs, newest first. */
    async search(endpointId: string, filter: JobFilter, before: number, limit: number): Promise<JobPage<Job>> {
      // One extra row shows whether there is another page.
      const found = await findMatching(endpointId, filter, before, limit + 1);
      const page = found.slice(0, limit);
      const next = found.length > limit ? page.at(-1)?.seq : undefined;
      const { status } = filter;
      return { jobs: page.filter((job) => isVisible(job) && job.status === (status ?? job.status)), before: next };
    },

    /** Ids of all jobs that match and that /retry accepts, the oldest first. */
    async retryable(endpointId: string, { status, text }: JobFilter): Promise<string[]> {
      const retryableStates = transitions.retry.from.filter((state) => status === undefined || state === status);
      const found = await Promise.all(
        retryableStates.map((one) => findMatching(endpointId, { status: one, text }, maxSeq, maxSeq)),
      );
      const oldestFirst = found.flat().sort((left, right) => left.seq - right.seq);
      return oldestFirst.filter((job) => isVisible(job) && canTransition(job, "retry")).map(({ id }) => id);
    },

    /** The input of a job as JSON text; undefined if the job does not exist. */
    input: (endpointId: string, jobId: string): string | undefined => {
      const found = find(endpointId, jobId);
      return found && store.payload(found.job.seq).input;
    },
  };
}
