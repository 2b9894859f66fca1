import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { createJobQueue } from "../../../../../service/queue";
import type { JobDelivery, NewJob } from "../../../../../service/queue/job";
import { steadyClock } from "../../../../../service/steady-clock";
import { type Database, openDatabase } from "../../../../../service/store/database";
import { defaultTimings } from "../../../../../service/timings";
import { ManualClock } from "../../../../support/manual-clock";

/** Loads the jobs of a store as a starting service does, and records the logged errors. */
export function openJobs(
  database: Database,
  clock: Clock = new ManualClock(),
  endpoint = (): object | undefined => ({}),
) {
  const logged: string[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (_facts: unknown, text?: string) => void logged.push(text ?? ""),
  };
  const queue = createJobQueue(database, { clock: steadyClock(clock), timings: defaultTimings, log, endpoint });
  /** Starts the first waiting job at a worker; resolves with none if no job waits. */
  async function take(endpointId: string, workerId: string): Promise<readonly JobDelivery[]> {
    if (queue.active.waiting(endpointId) === 0) return [];
    return new Promise((deliver) => queue.jobs.wait(endpointId, { workerId, deliver }));
  }
  return { ...queue, logged, take };
}

/** A submission at a time, with the interface's defaults. */
export const submissionAt = (now: number, fields: Partial<NewJob> = {}): NewJob => ({
  id: "job",
  endpointId: "endpoint",
  operation: "run",
  lowPriority: false,
  executionTimeout: undefined,
  createdAt: now,
  queuedAt: now,
  expiresAt: now + limits.ttl.default,
  webhook: undefined,
  s3Config: undefined,
  input: "{}",
  ...fields,
});

/** Jobs on a real store in its own folder, on a manual clock. `close` removes everything. */
export function openJobsRig() {
  const folder = mkdtempSync(join(tmpdir(), "jobs-"));
  const opened = openDatabase(folder);
  let fault: string | undefined;
  const prepare: Database["prepare"] = (sql) => {
    const command = opened.prepare(sql);
    const run: typeof command.run = (...params) => {
      if (fault !== undefined) throw Object.assign(new Error("the statement failed"), { code: fault });
      return command.run(...params);
    };
    return { run };
  };
  const database = { ...opened, prepare };
  const clock = new ManualClock();
  const parts = openJobs(database, clock);
  const stores = [{ folder, database }];
  let created = 0;
  /** Opens a copy of the store in its state after a kill at this moment. */
  function killed(): Database {
    const copy = mkdtempSync(join(tmpdir(), "jobs-killed-"));
    cpSync(folder, copy, { recursive: true, filter: (path) => !/\/lock/.test(path.slice(folder.length)) });
    const found = openDatabase(copy);
    stores.push({ folder: copy, database: found });
    return found;
  }
  return {
    ...parts,
    clock,
    /** The clock of the jobs. */
    steady: parts.clock,
    database,
    /** Makes every change of rows fail with a code of SQLite, by default as if another program held the lock; returns a function that ends the failures. */
    lockStore(code = "SQLITE_BUSY"): () => void {
      fault = code;
      return () => {
        fault = undefined;
      };
    },
    /** A submission with its own id. */
    newJob: (fields: Partial<NewJob> = {}) =>
      submissionAt(clock.now(), { id: `job-${++created}`, queuedAt: parts.clock.now(), ...fields }),
    killed,
    /** Loads the jobs after a kill; running jobs are requeued. */
    afterKill() {
      const found = killed();
      const life = openJobs(found, clock);
      life.recover(() => false);
      return { ...life, database: found };
    },
    close() {
      for (const store of stores) {
        store.database.close();
        rmSync(store.folder, { recursive: true, force: true });
      }
    },
  };
}

const row = z.object({ id: z.string(), status: z.string() });

/** Jobs on a real store for one test, of the endpoint `endpoint` with the worker `w`. */
export function useJobs() {
  const rig = openJobsRig();
  onTestFinished(rig.close);
  /** Submits a job, and starts it at the worker; returns its id. */
  async function run(fields: Partial<NewJob> = {}): Promise<string> {
    const job = rig.newJob(fields);
    await rig.jobs.submit(job);
    await rig.take("endpoint", "w");
    return job.id;
  }
  return {
    ...rig,
    run,
    worker: { id: "w", endpointId: "endpoint" },
    /** The job's state for clients. */
    status: (id: string) => rig.list.find("endpoint", id)?.job.status,
    /** Ids and states in the store after a kill at this moment. */
    stored: (): string[] =>
      rig
        .killed()
        .query("SELECT id, status FROM jobs ORDER BY seq", row)
        .all()
        .map(({ id, status }) => `${id} ${status}`),
  };
}
