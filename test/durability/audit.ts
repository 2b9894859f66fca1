import { z } from "zod";
import { openDatabase } from "../../service/store/database";

const moveRow = z.object({ jobId: z.string(), before: z.string().nullable(), after: z.string().nullable() });
const jobRow = z.object({
  id: z.string(),
  endpointId: z.string(),
  status: z.string(),
  retries: z.number(),
  crashes: z.number(),
  error: z.string().nullable(),
  output: z.string().nullable(),
  input: z.string(),
});
const counterRow = z.object({
  endpointId: z.string(),
  completed: z.number(),
  failed: z.number(),
  cancelled: z.number(),
  timedOut: z.number(),
  retried: z.number(),
});

/** A stored change of a job's state; `before` is null for a new job, `after` for a removed job. */
export type RecordedMove = z.output<typeof moveRow>;
export type RecordedJob = z.output<typeof jobRow>;
type RecordedCounters = z.output<typeof counterRow>;

/** Job records of a data folder, with every recorded transition. */
export interface JobRecordBook {
  jobs: RecordedJob[];
  moves: RecordedMove[];
  counters: RecordedCounters[];
}

/** Counts requeues by the records, because the tables contain only the last of several transitions within a few ms. */
export const countRequeues = ({ jobs }: JobRecordBook): number => jobs.reduce((sum, { retries }) => sum + retries, 0);

/** Adds triggers to the store of a data folder that record every state transition of a job. No service may run. */
export function installAudit(dataFolder: string): void {
  const database = openDatabase(dataFolder);
  const into = "INSERT INTO audit (job_id, before, after)";
  const statements = [
    "CREATE TABLE audit (seq INTEGER PRIMARY KEY, job_id TEXT NOT NULL, before TEXT, after TEXT)",
    `CREATE TRIGGER audit_new AFTER INSERT ON jobs BEGIN ${into} VALUES (NEW.id, NULL, NEW.status); END`,
    `CREATE TRIGGER audit_move AFTER UPDATE OF status ON jobs WHEN NEW.status <> OLD.status
      BEGIN ${into} VALUES (NEW.id, OLD.status, NEW.status); END`,
    `CREATE TRIGGER audit_gone AFTER DELETE ON jobs BEGIN ${into} VALUES (OLD.id, OLD.status, NULL); END`,
  ];
  for (const statement of statements) database.prepare(statement).run();
  database.close();
}

/** Reads an audited data folder. No service may run on it. */
export function readRecordBook(dataFolder: string): JobRecordBook {
  const database = openDatabase(dataFolder);
  try {
    return {
      jobs: database
        .query(
          `SELECT id, endpoint_id AS endpointId, status, record ->> 7 AS retries, record ->> 8 AS crashes, record ->> 12 AS error,
            coalesce(output, progress) AS output, input FROM jobs LEFT JOIN job_progress USING (seq) ORDER BY seq`,
          jobRow,
        )
        .all(),
      moves: database.query("SELECT job_id AS jobId, before, after FROM audit ORDER BY seq", moveRow).all(),
      counters: database
        .query(
          "SELECT endpoint_id AS endpointId, completed, failed, cancelled, timed_out AS timedOut, retried FROM job_counters",
          counterRow,
        )
        .all(),
    };
  } finally {
    database.close();
  }
}
