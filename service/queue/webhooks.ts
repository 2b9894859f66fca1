import { setMaxListeners } from "node:events";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Logger } from "pino";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { codeOf, messageOf } from "../errors";
import { createScheduler } from "../scheduler";
import { ShortLivedMap } from "../short-lived-map";
import type { SteadyClock } from "../steady-clock";
import type { Database } from "../store/database";
import type { GroupCommit } from "../store/group-commit";
import { type ServiceTimings, storePause } from "../timings";
import type { JobEvents } from "./events";
import { type FinalJob, recordText, webhookText } from "./job";

const webhookRow = z.object({
  id: z.number(),
  jobId: z.string(),
  url: z.string(),
  body: z.string(),
  attempts: z.number(),
});
/** A webhook that has not been delivered yet. */
type PendingWebhook = z.output<typeof webhookRow>;

const idRow = z.object({ id: z.number(), bytes: z.number() });
const hostRow = z.object({ host: z.string() });

export type Webhooks = ReturnType<typeof createWebhooks>;

/** The host name and port of a webhook's receiver. */
const webhookHost = (url: string): string => new URL(url).host;

/** The table of pending webhooks, whose due times are those of a monotonic clock. Only `load` reads bodies, which may be 20 MB each. */
export function createWebhooks(database: Database, clock: SteadyClock) {
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
    /** Adds the webhook of a finished job, which is due now; `output` and `input` are JSON texts. */
    insert(job: FinalJob, url: string, output: string | undefined, input: string): void {
      const body = webhookText(recordText(job, output, job.finishedAt), input, url);
      insert.run(job.endpointId, job.id, url, webhookHost(url), body, clock.now());
    },
    /** Makes all webhooks due now, because the due times of an earlier process are those of another clock. */
    makeDue: (): void => makeDue.run(clock.now()),
    /** Hosts with webhooks that are due by `now`. */
    dueHosts: (now: number): string[] => dueHosts.all(now).map(({ host }) => host),
    /** A host's webhooks that are due by `now`, in the order of their due times, with the sizes of their bodies in bytes. */
    dueOf: (host: string, now: number, limit: number) => dueOf.all(host, now, limit),
    load: (id: number): PendingWebhook | undefined => load.get(id),
    /** The due time of the next webhook after `now`. */
    nextDue: (now: number): number | undefined => nextDue.get(now)?.dueAt ?? undefined,
    postpone: (id: number, attempts: number, dueAt: number): void => postpone.run(attempts, dueAt, id),
    remove: (id: number): void => remove.run(id),
    removeEndpoint: (endpointId: string): void => removeEndpoint.run(endpointId),
  };
}

/**
 * Limits of concurrent deliveries. The limit per host is low, so that a slow receiver delays only its own webhooks. A body stays in
 * memory during its delivery, so the total size is also limited; three bodies with the largest input and output fit.
 */
const maxConcurrent = { all: 256, host: 4, bytes: 128 * 1024 * 1024 } as const;

/** Delivers the webhooks of finished jobs (interface: Events). Webhooks are stored until they are delivered, so a restart loses none. */
export function createWebhookDelivery({
  webhooks,
  groupCommit,
  events,
  clock,
  timings,
  log,
}: {
  webhooks: Webhooks;
  groupCommit: Pick<GroupCommit, "commit">;
  events: JobEvents;
  clock: SteadyClock;
  timings: Pick<ServiceTimings, "webhookDelay" | "webhookAnswer">;
  log: Pick<Logger, "info" | "warn" | "error">;
}) {
  /** Deliveries in progress, by webhook id. */
  const deliveries = new ShortLivedMap<number, Promise<void>>();
  const activeByHost = new Map<string, number>();
  let bytesInFlight = 0;
  /** Hosts that may have due webhooks, in round-robin order. */
  const hosts = new Set<string>();
  const stopping = new AbortController();
  setMaxListeners(maxConcurrent.all, stopping.signal);
  let started = false;
  let scheduled = false;
  const scheduler = createScheduler(clock, runPass, (error) =>
    log.error({ err: error }, "webhooks: pass failed; retrying"),
  );
  events.on("ended", ({ webhook }) => {
    if (webhook === undefined) return;
    hosts.add(webhookHost(webhook));
    scheduleDeliveries();
  });

  /** Starts deliveries after the current commit, so that an error does not fail the job's transition. */
  function scheduleDeliveries(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      scheduler.scheduleResultOf(() => {
        startDeliveries();
        // No pass is needed unless this fails.
        return Number.POSITIVE_INFINITY;
      });
    });
  }

  /** Adds the hosts of due webhooks; returns the due time of the next webhook. */
  async function runPass(): Promise<number | undefined> {
    for (const host of webhooks.dueHosts(clock.now())) hosts.add(host);
    startDeliveries();
    return webhooks.nextDue(clock.now());
  }

  /** Starts deliveries within the limits, one webhook per host at a time, round-robin. */
  function startDeliveries(): void {
    for (const host of hosts) {
      if (!started || stopping.signal.aborted || deliveries.size >= maxConcurrent.all) return;
      hosts.delete(host);
      const active = activeByHost.get(host) ?? 0;
      // The host is added again when one of its deliveries ends.
      if (active >= maxConcurrent.host) continue;
      const next = webhooks.dueOf(host, clock.now(), active + 1).find(({ id }) => !deliveries.has(id));
      if (!next) continue;
      if (bytesInFlight + next.bytes > maxConcurrent.bytes) {
        hosts.add(host);
        return;
      }
      startDelivery(host, next);
      // Iterating a Set includes entries that are added during the loop.
      hosts.add(host);
    }
  }

  function startDelivery(host: string, { id, bytes }: { id: number; bytes: number }): void {
    activeByHost.set(host, (activeByHost.get(host) ?? 0) + 1);
    bytesInFlight += bytes;
    const delivery = deliver(id)
      .catch(async (error: unknown) => {
        log.error({ err: error, webhook: id }, "webhook: delivery failed; retrying");
        await waitBeforeRetry();
      })
      .finally(() => {
        deliveries.delete(id);
        bytesInFlight -= bytes;
        const remaining = (activeByHost.get(host) ?? 1) - 1;
        if (remaining > 0) activeByHost.set(host, remaining);
        else activeByHost.delete(host);
        hosts.add(host);
        scheduleDeliveries();
      });
    deliveries.set(id, delivery);
  }

  async function deliver(id: number): Promise<void> {
    const webhook = webhooks.load(id);
    if (!webhook) return;
    const problem = await send(webhook);
    if (stopping.signal.aborted) return;
    const attempts = webhook.attempts + 1;
    const logFields = { job: webhook.jobId, attempt: attempts, problem };
    if (problem !== undefined && attempts < limits.webhook.attempts) {
      log.info(logFields, "webhook: attempt failed; retrying");
      const dueAt = clock.now() + timings.webhookDelay;
      await recordResult(id, () => webhooks.postpone(id, attempts, dueAt));
      scheduler.schedule(dueAt);
      return;
    }
    if (problem !== undefined) log.warn(logFields, "webhook: last attempt failed; not retried");
    await recordResult(id, () => webhooks.remove(id));
  }

  const waitBeforeRetry = (): Promise<void> => clock.sleep(storePause, stopping.signal).catch(() => undefined);

  /** Records the result of an attempt. If the store fails, only the write is retried; the webhook is not sent again. */
  async function recordResult(id: number, change: () => void): Promise<void> {
    for (let isLogged = false; ; isLogged = true) {
      try {
        return await groupCommit.commit(change);
      } catch (error) {
        if (stopping.signal.aborted) throw error;
        if (!isLogged)
          log.error(
            { err: error, webhook: id },
            "webhook: sent, but the result cannot be written to the store; retrying the write",
          );
        await waitBeforeRetry();
      }
    }
  }

  /** Sends a webhook; returns the problem, or undefined on success. */
  async function send({ url, body }: PendingWebhook): Promise<string | undefined> {
    const timeout = new AbortController();
    const abort = (): void => timeout.abort();
    stopping.signal.addEventListener("abort", abort);
    const timer = setTimeout(abort, timings.webhookAnswer);
    try {
      const status = await post(new URL(url), body, timeout.signal);
      return status === 200 ? undefined : `status ${status}`;
    } catch (error) {
      if (timeout.signal.aborted) return "no response in time";
      return messageOf(error) || codeOf(error);
    } finally {
      clearTimeout(timer);
      stopping.signal.removeEventListener("abort", abort);
    }
  }

  return {
    start(): void {
      started = true;
      scheduler.start();
    },
    /** Stops deliveries; pending webhooks are delivered after the next start. */
    async stop(): Promise<void> {
      stopping.abort();
      await scheduler.stop();
      await Promise.all(deliveries.values());
    },
  };
}

/** Posts a webhook; resolves with the status. Unlike fetch, requests accept credentials in the address, and every port. */
function post(url: URL, body: string, signal: AbortSignal): Promise<number | undefined> {
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = send(url, { method: "POST", headers, signal }, (response) => {
      resolve(response.statusCode);
      response.destroy();
    });
    request.on("error", reject).end(body);
  });
}
