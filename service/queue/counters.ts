import { z } from "zod";
import type { Database } from "../store/database";
import type { GroupCommit } from "../store/group-commit";

const countsRow = z.object({
  endpointId: z.string(),
  COMPLETED: z.number(),
  FAILED: z.number(),
  CANCELLED: z.number(),
  TIMED_OUT: z.number(),
  retried: z.number(),
});
/** Number of jobs of an endpoint, since its creation, that ended, by final state, and that were requeued. */
type JobCounts = Omit<z.output<typeof countsRow>, "endpointId">;

export type JobCounters = ReturnType<typeof createJobCounters>;

/**
 * Job counts in memory and in the store, kept after the jobs are deleted. Changes run within the caller's transaction, which writes
 * each endpoint's row once.
 */
export function createJobCounters(
  database: Database,
  { onRollback, beforeCommit }: Pick<GroupCommit, "onRollback" | "beforeCommit">,
) {
  const zero: JobCounts = { COMPLETED: 0, FAILED: 0, CANCELLED: 0, TIMED_OUT: 0, retried: 0 };
  const counts = new Map<string, JobCounts>();
  const storedCounts = database.query(
    `SELECT endpoint_id AS endpointId, completed AS COMPLETED, failed AS FAILED, cancelled AS CANCELLED,
      timed_out AS TIMED_OUT, retried FROM job_counters`,
    countsRow,
  );
  storedCounts.each(({ endpointId, ...counted }) => counts.set(endpointId, counted));
  const save = database.prepare(
    `INSERT OR REPLACE INTO job_counters (endpoint_id, completed, failed, cancelled, timed_out, retried)
      VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const remove = database.prepare("DELETE FROM job_counters WHERE endpoint_id = ?");
  const read = (endpointId: string): JobCounts => counts.get(endpointId) ?? zero;
  return {
    read,
    add(endpointId: string, counter: keyof JobCounts): void {
      const before = read(endpointId);
      const after = { ...before, [counter]: before[counter] + 1 };
      counts.set(endpointId, after);
      onRollback(() => counts.set(endpointId, before));
      beforeCommit(() => {
        if (counts.get(endpointId) !== after) return;
        const { COMPLETED, FAILED, CANCELLED, TIMED_OUT, retried } = after;
        save.run(endpointId, COMPLETED, FAILED, CANCELLED, TIMED_OUT, retried);
      });
    },
    removeEndpoint(endpointId: string): void {
      const before = counts.get(endpointId);
      counts.delete(endpointId);
      if (before) onRollback(() => counts.set(endpointId, before));
      remove.run(endpointId);
    },
  };
}
