import { z } from "zod";
import type { Database } from "./database";

/** The table of stream chunks, in the order of a job's positions from 0; they go with their job. */
export interface JobChunkStore {
  append(jobId: string, position: number, chunk: string): void;
  /** Chunks (JSON texts) from a position on, as many as fit into `limit` characters, at least one. */
  from(jobId: string, position: number, limit: number): string[];
  clear(jobId: string): void;
}

export function createJobChunkStore(database: Database): JobChunkStore {
  const append = database.prepare("INSERT INTO job_chunks (job_id, position, chunk) VALUES (?, ?, ?)");
  const clear = database.prepare("DELETE FROM job_chunks WHERE job_id = ?");
  const batch = 64;
  const from = database.query(
    `SELECT chunk FROM job_chunks WHERE job_id = ? AND position >= ? ORDER BY position LIMIT ${batch}`,
    z.object({ chunk: z.string() }),
  );
  return {
    append: (jobId, position, chunk) => void append.run(jobId, position, chunk),
    from: (jobId, position, limit) => {
      const chunks: string[] = [];
      for (let size = 0; ; ) {
        const rows = from.all(jobId, position + chunks.length);
        for (const { chunk } of rows) {
          size += chunk.length;
          if (chunks.length > 0 && size > limit) return chunks;
          chunks.push(chunk);
        }
        if (rows.length < batch) return chunks;
      }
    },
    clear: (jobId) => void clear.run(jobId),
  };
}
