import { z } from "zod";
import type { Database } from "../store/database";
import type { GroupCommit } from "../store/group-commit";

const row = z.object({ endpointId: z.string(), completed: z.number(), failed: z.number(), retried: z.number() });
/** What happened on an endpoint since it was made: jobs completed, jobs failed or timed out, jobs queued again. */
export type JobCounts = Omit<z.output<typeof row>, "endpointId">;

/** Counts that outlive the jobs they counted. They are kept in memory and written once per transaction. */
export interface JobCounters {
  read(endpointId: string): JobCounts;
  /** Counts within a transaction. */
  add(endpointId: string, counter: keyof JobCounts): void;
  /** Writes what was counted; the end of each transaction. */
  write(): void;
  removeEndpoint(endpointId: string): void;
}

export function createJobCounters(database: Database, onRollback: GroupCommit["onRollback"]): JobCounters {
  const none: JobCounts = { completed: 0, failed: 0, retried: 0 };
  const counts = new Map<string, JobCounts>();
  const all = database.query("SELECT endpoint_id AS endpointId, completed, failed, retried FROM job_counters", row);
  all.each(({ endpointId, ...counted }) => counts.set(endpointId, counted));
  const save = database.prepare(
    "INSERT OR REPLACE INTO job_counters (endpoint_id, completed, failed, retried) VALUES (?, ?, ?, ?)",
  );
  const remove = database.prepare("DELETE FROM job_counters WHERE endpoint_id = ?");
  const changed = new Set<string>();
  const read = (endpointId: string): JobCounts => counts.get(endpointId) ?? none;
  return {
    read,
    add(endpointId, counter) {
      const before = read(endpointId);
      counts.set(endpointId, { ...before, [counter]: before[counter] + 1 });
      changed.add(endpointId);
      onRollback(() => counts.set(endpointId, before));
    },
    write() {
      for (const endpointId of changed) {
        const { completed, failed, retried } = read(endpointId);
        save.run(endpointId, completed, failed, retried);
      }
      changed.clear();
    },
    removeEndpoint(endpointId) {
      remove.run(endpointId);
      changed.delete(endpointId);
      counts.delete(endpointId);
    },
  };
}
