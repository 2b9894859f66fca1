import { z } from "zod";
import type { Database } from "./database";

/** The table of stream chunks, in the order of a job's positions from 0; `seq` is the job's number, and they go with their job. */
export interface JobChunkStore {
  append(seq: number, position: number, chunk: string): void;
  /** Chunks (JSON texts) from a position on, as many as fit into `limit` characters, at least one. */
  from(seq: number, position: number, limit: number): string[];
  clear(seq: number): void;
}

export function createJobChunkStore(database: Database): JobChunkStore {
  const append = database.prepare("INSERT INTO job_chunks (seq, position, chunk) VALUES (?, ?, ?)");
  const clear = database.prepare("DELETE FROM job_chunks WHERE seq = ?");
  const batch = 64;
  const from = database.query(
    `SELECT chunk FROM job_chunks WHERE seq = ? AND position >= ? ORDER BY position LIMIT ${batch}`,
    z.object({ chunk: z.string() }),
  );
  return {
    append: (seq, position, chunk) => void append.run(seq, position, chunk),
    from: (seq, position, limit) => {
      const chunks: string[] = [];
      for (let size = 0; ; ) {
        const rows = from.all(seq, position + chunks.length);
        for (const { chunk } of rows) {
          size += chunk.length;
          if (chunks.length > 0 && size > limit) return chunks;
          chunks.push(chunk);
        }
        if (rows.length < batch) return chunks;
      }
    },
    clear: (seq) => void clear.run(seq),
  };
}
