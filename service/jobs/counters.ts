import { z } from "zod";
import type { Database } from "../store/database";
import type { GroupCommit } from "../store/group-commit";
import type { Statement } from "../store/redo-log";

const row = z.object({ endpointId: z.string(), completed: z.number(), failed: z.number(), retried: z.number() });
/** What happened on an endpoint since it was made: jobs completed, jobs failed or timed out, jobs queued again. */
export type JobCounts = Omit<z.output<typeof row>, "endpointId">;

export type JobCounters = ReturnType<typeof createJobCounters>;

/** Counts that outlive the jobs they counted. They are kept in memory and written with the jobs. */
export function createJobCounters(database: Database, onRollback: GroupCommit["onRollback"]) {
  const none: JobCounts = { completed: 0, failed: 0, retried: 0 };
  const counts = new Map<string, JobCounts>();
  const all = database.query("SELECT endpoint_id AS endpointId, completed, failed, retried FROM job_counters", row);
  all.each(({ endpointId, ...counted }) => counts.set(endpointId, counted));
  const save = database.prepare(
    "INSERT OR REPLACE INTO job_counters (endpoint_id, completed, failed, retried) VALUES (?, ?, ?, ?)",
  );
  const remove = database.prepare("DELETE FROM job_counters WHERE endpoint_id = ?");
  /** Endpoints whose counts the tables do not have, and those that the redo log does not have either. */
  let unwritten = new Set<string>();
  let unlogged = new Set<string>();
  const read = (endpointId: string): JobCounts => counts.get(endpointId) ?? none;
  function statementOf(endpointId: string): Statement {
    const { completed, failed, retried } = read(endpointId);
    return [save, [endpointId, completed, failed, retried]];
  }
  return {
    read,
    /** Counts within a transaction. */
    add(endpointId: string, counter: keyof JobCounts): void {
      const before = read(endpointId);
      counts.set(endpointId, { ...before, [counter]: before[counter] + 1 });
      unwritten.add(endpointId);
      unlogged.add(endpointId);
      onRollback(() => counts.set(endpointId, before));
    },
    /** Writes into the tables what was counted. */
    write(): void {
      for (const endpointId of unwritten) {
        const [command, params] = statementOf(endpointId);
        command.run(...params);
        onRollback(() => unwritten.add(endpointId));
      }
      unwritten = new Set();
      unlogged = new Set();
    },
    /** The statements that write what was counted since the last call of this and of `write`. */
    unlogged(): Statement[] {
      const writes = [...unlogged].map(statementOf);
      unlogged = new Set();
      return writes;
    },
    removeEndpoint(endpointId: string): void {
      remove.run(endpointId);
      unwritten.delete(endpointId);
      unlogged.delete(endpointId);
      counts.delete(endpointId);
    },
  };
}
