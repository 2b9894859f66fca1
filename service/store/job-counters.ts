import { z } from "zod";
import type { Database } from "./database";

const row = z.object({ completed: z.number(), failed: z.number(), retried: z.number() });
/** What happened on an endpoint since it was made: jobs completed, jobs failed or timed out, jobs queued again. */
export type JobCounters = z.output<typeof row>;

/** The table of counters; they outlive the jobs they counted. */
export interface JobCounterStore {
  read(endpointId: string): JobCounters;
  add(endpointId: string, counter: keyof JobCounters): void;
  removeEndpoint(endpointId: string): void;
}

export function createJobCounterStore(database: Database): JobCounterStore {
  const read = database.query("SELECT completed, failed, retried FROM job_counters WHERE endpoint_id = ?", row);
  const adding = (counter: keyof JobCounters) =>
    database.prepare(`INSERT INTO job_counters (endpoint_id, ${counter}) VALUES (?, 1)
      ON CONFLICT (endpoint_id) DO UPDATE SET ${counter} = ${counter} + 1`);
  const add = { completed: adding("completed"), failed: adding("failed"), retried: adding("retried") };
  const remove = database.prepare("DELETE FROM job_counters WHERE endpoint_id = ?");
  return {
    read: (endpointId) => read.get(endpointId) ?? { completed: 0, failed: 0, retried: 0 },
    add: (endpointId, counter) => void add[counter].run(endpointId),
    removeEndpoint: (endpointId) => void remove.run(endpointId),
  };
}
