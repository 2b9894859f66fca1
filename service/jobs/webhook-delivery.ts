import { setMaxListeners } from "node:events";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { codeOf, messageOf } from "../errors";
import { ShortLivedMap } from "../short-lived-map";
import type { GroupCommit } from "../store/group-commit";
import { createAlarm } from "./alarm";
import type { JobEvents } from "./events";
import { type JobTimings, storePause } from "./timings";
import { type PendingWebhook, type WebhookStore, webhookHost } from "./webhook-store";

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
  webhooks: WebhookStore;
  groupCommit: Pick<GroupCommit, "commit">;
  events: JobEvents;
  clock: Clock;
  timings: Pick<JobTimings, "webhookDelay" | "webhookAnswer">;
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
  const alarm = createAlarm(clock, runPass, (error) => log.error({ err: error }, "webhooks: pass failed; retrying"));
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
      alarm.scheduleResultOf(() => {
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
      if (bytesInFlight > 0 && bytesInFlight + next.bytes > maxConcurrent.bytes) {
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
      alarm.schedule(dueAt);
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
    stopping.signal.addEventListener("abort", abort, { once: true });
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
      alarm.start();
    },
    /** Stops deliveries; pending webhooks are delivered after the next start. */
    async stop(): Promise<void> {
      stopping.abort();
      await alarm.stop();
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
