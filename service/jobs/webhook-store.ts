import type { Clock } from "serverless-compute-api/clock";
import { z } from "zod";
import type { Database } from "../store/database";
import type { FinalJob } from "./job";

const webhookRow = z.object({
  id: z.number(),
  jobId: z.string(),
  url: z.string(),
  body: z.string(),
  /** Number of attempts so far. */
  attempts: z.number(),
});
/** A webhook that has not been delivered yet. */
export type PendingWebhook = z.output<typeof webhookRow>;

const idRow = z.object({ id: z.number(), bytes: z.number() });
const hostRow = z.object({ host: z.string() });

export type WebhookStore = ReturnType<typeof createWebhookStore>;

/** The host name and port of a webhook's receiver. */
export const webhookHost = (url: string): string => new URL(url).host;

/** The table of pending webhooks, whose due times are those of a monotonic clock. Only `load` reads bodies, which may be 20 MB each. */
export function createWebhookStore(database: Database, clock: Clock) {
  // The columns are integers, but a monotonic clock has fractions.
  const now = (): number => Math.floor(clock.now());
  const insert = database.prepare(
    "INSERT INTO webhooks (endpoint_id, job_id, url, host, body, due_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const dueHosts = database.query("SELECT DISTINCT host FROM webhooks WHERE due_at <= ?", hostRow);
  const dueOf = database.query(
    `SELECT id, octet_length(body) AS bytes FROM webhooks
      WHERE host = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`,
    idRow,
  );
  const load = database.query("SELECT id, job_id AS jobId, url, body, attempts FROM webhooks WHERE id = ?", webhookRow);
  const nextDue = database.query(
    "SELECT min(due_at) AS dueAt FROM webhooks WHERE due_at > ?",
    z.object({ dueAt: z.number().nullable() }),
  );
  const makeDue = database.prepare("UPDATE webhooks SET due_at = ?1 WHERE due_at > ?1");
  const postpone = database.prepare("UPDATE webhooks SET attempts = ?, due_at = ? WHERE id = ?");
  const remove = database.prepare("DELETE FROM webhooks WHERE id = ?");
  const removeEndpoint = database.prepare("DELETE FROM webhooks WHERE endpoint_id = ?");
  return {
    /** Adds a webhook that is due now. */
    insert: ({ id, endpointId }: FinalJob, url: string, body: string): void =>
      void insert.run(endpointId, id, url, webhookHost(url), body, now()),
    /** Makes all webhooks due now, because the due times of an earlier process are those of another clock. */
    makeDue: (): void => void makeDue.run(now()),
    /** Hosts with webhooks that are due by `now`. */
    dueHosts: (now: number): string[] => dueHosts.all(now).map(({ host }) => host),
    /** A host's webhooks that are due by `now`, in the order of their due times, with the sizes of their bodies in bytes. */
    dueOf: (host: string, now: number, limit: number) => dueOf.all(host, now, limit),
    load: (id: number): PendingWebhook | undefined => load.get(id),
    /** The due time of the next webhook after `now`. */
    nextDue: (now: number): number | undefined => nextDue.get(now)?.dueAt ?? undefined,
    postpone: (id: number, attempts: number, dueAt: number): void => void postpone.run(attempts, Math.floor(dueAt), id),
    remove: (id: number): void => void remove.run(id),
    removeEndpoint: (endpointId: string): void => void removeEndpoint.run(endpointId),
  };
}
