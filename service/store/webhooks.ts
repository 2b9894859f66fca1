import { z } from "zod";
import type { Database } from "./database";

const row = z.object({
  id: z.number(),
  endpointId: z.string(),
  jobId: z.string(),
  url: z.string(),
  body: z.string(),
  /** Attempts made so far. */
  attempts: z.number(),
});
/** A notification that still has to be delivered. */
export type PendingWebhook = z.output<typeof row>;

/** The table of notifications to deliver. */
export interface WebhookStore {
  insert(webhook: { endpointId: string; jobId: string; url: string; body: string; dueAt: number }): void;
  /** Those due by `now` whose id is above `after`, in the order of their ids. */
  due(now: number, after: number, limit: number): PendingWebhook[];
  /** The earliest time after `now` at which one is due. */
  nextDue(now: number): number | undefined;
  postpone(id: number, attempts: number, dueAt: number): void;
  remove(id: number): void;
  removeEndpoint(endpointId: string): void;
}

export function createWebhookStore(database: Database): WebhookStore {
  const insert = database.prepare(
    "INSERT INTO webhooks (endpoint_id, job_id, url, body, due_at) VALUES (?, ?, ?, ?, ?)",
  );
  const due = database.query(
    `SELECT id, endpoint_id AS endpointId, job_id AS jobId, url, body, attempts FROM webhooks
      WHERE due_at <= ? AND id > ? ORDER BY id LIMIT ?`,
    row,
  );
  const nextDue = database.query(
    "SELECT min(due_at) AS dueAt FROM webhooks WHERE due_at > ?",
    z.object({ dueAt: z.number().nullable() }),
  );
  const postpone = database.prepare("UPDATE webhooks SET attempts = ?, due_at = ? WHERE id = ?");
  const remove = database.prepare("DELETE FROM webhooks WHERE id = ?");
  const removeEndpoint = database.prepare("DELETE FROM webhooks WHERE endpoint_id = ?");
  return {
    insert: ({ endpointId, jobId, url, body, dueAt }) => void insert.run(endpointId, jobId, url, body, dueAt),
    due: (now, after, limit) => due.all(now, after, limit),
    nextDue: (now) => nextDue.get(now)?.dueAt ?? undefined,
    postpone: (id, attempts, dueAt) => void postpone.run(attempts, dueAt, id),
    remove: (id) => void remove.run(id),
    removeEndpoint: (endpointId) => void removeEndpoint.run(endpointId),
  };
}
