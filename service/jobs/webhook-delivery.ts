import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { ShortLivedMap } from "../short-lived-map";
import type { GroupCommit } from "../store/group-commit";
import { createAlarm } from "./alarm";
import type { JobEvents } from "./events";
import { type JobTimings, storePause } from "./timings";
import { type PendingWebhook, type WebhookStore, webhookHost } from "./webhook-store";

/**
 * Limits of concurrent deliveries. The limit per host is low, so that a slow receiver delays only its own webhooks. A body stays in
 * memory during its delivery, so the total size is also limited; four bodies of the maximum size fit.
 */
const atOnce = { all: 256, host: 4, bytes: 128 * 1024 * 1024 } as const;

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
  const sending = new ShortLivedMap<number, { bytes: number; done: Promise<void> }>();
  const sendingTo = new Map<string, number>();
  let bytesSending = 0;
  /** Hosts that may have due webhooks, in round-robin order. */
  const hosts = new Set<string>();
  const stopping = new AbortController();
  setMaxListeners(atOnce.all, stopping.signal);
  let started = false;
  let scheduled = false;
  const alarm = createAlarm(clock, look, (error) => log.error({ err: error }, "webhooks: pass failed; retrying"));
  events.on("ended", ({ webhook }) => {
    if (webhook === undefined) return;
    hosts.add(webhookHost(webhook));
    sendSoon();
  });

  /** Starts deliveries after the current commit, so that an error does not fail the job's transition. */
  function sendSoon(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      try {
        sendNext();
      } catch (error) {
        log.error({ err: error }, "webhooks: pass failed; retrying");
        alarm.by(clock.now() + 1000);
      }
    });
  }

  /** Adds the hosts of due webhooks; returns the due time of the next webhook. */
  async function look(): Promise<number | undefined> {
    for (const host of webhooks.dueHosts(clock.now())) hosts.add(host);
    sendNext();
    return webhooks.nextDue(clock.now());
  }

  /** Starts deliveries within the limits, one webhook per host at a time, round-robin. */
  function sendNext(): void {
    for (const host of hosts) {
      if (!started || stopping.signal.aborted || sending.size >= atOnce.all) return;
      hosts.delete(host);
      const busy = sendingTo.get(host) ?? 0;
      // The host is added again when one of its deliveries ends.
      if (busy >= atOnce.host) continue;
      const next = webhooks.dueOf(host, clock.now(), busy + 1).find(({ id }) => !sending.has(id));
      if (!next) continue;
      if (bytesSending > 0 && bytesSending + next.bytes > atOnce.bytes) {
        hosts.add(host);
        return;
      }
      begin(host, next);
      // Iterating a Set includes entries that are added during the loop.
      hosts.add(host);
    }
  }

  function begin(host: string, { id, bytes }: { id: number; bytes: number }): void {
    sendingTo.set(host, (sendingTo.get(host) ?? 0) + 1);
    bytesSending += bytes;
    const done = deliver(id)
      .catch(async (error: unknown) => {
        log.error({ err: error, webhook: id }, "webhook: delivery failed; retrying");
        await pause();
      })
      .finally(() => {
        sending.delete(id);
        bytesSending -= bytes;
        const remaining = (sendingTo.get(host) ?? 1) - 1;
        if (remaining > 0) sendingTo.set(host, remaining);
        else sendingTo.delete(host);
        hosts.add(host);
        sendSoon();
      });
    sending.set(id, { bytes, done });
  }

  async function deliver(id: number): Promise<void> {
    const webhook = webhooks.load(id);
    if (!webhook) return;
    const problem = await post(webhook);
    if (stopping.signal.aborted) return;
    const attempts = webhook.attempts + 1;
    const facts = { job: webhook.jobId, attempt: attempts, problem };
    if (problem !== undefined && attempts < limits.webhook.attempts) {
      log.info(facts, "webhook: attempt failed; retrying");
      const dueAt = clock.now() + timings.webhookDelay;
      await record(id, () => webhooks.postpone(id, attempts, dueAt));
      alarm.by(dueAt);
      return;
    }
    if (problem !== undefined) log.warn(facts, "webhook: last attempt failed; not retried");
    await record(id, () => webhooks.remove(id));
  }

  const pause = (): Promise<void> => clock.sleep(storePause, stopping.signal).catch(() => undefined);

  /** Records the result of an attempt. If the store fails, only the write is retried; the webhook is not sent again. */
  async function record(id: number, change: () => void): Promise<void> {
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
        await pause();
      }
    }
  }

  /** Sends a webhook; returns the problem, or undefined on success. */
  async function post({ url, body }: PendingWebhook): Promise<string | undefined> {
    const tooLong = new AbortController();
    const stop = (): void => tooLong.abort();
    stopping.signal.addEventListener("abort", stop, { once: true });
    const timer = setTimeout(stop, timings.webhookAnswer);
    try {
      const { address, headers } = addressOf(url);
      const response = await fetch(address, {
        method: "POST",
        headers,
        body,
        redirect: "manual",
        signal: tooLong.signal,
      });
      await response.body?.cancel();
      return response.status === 200 ? undefined : `status ${response.status}`;
    } catch (error) {
      if (tooLong.signal.aborted) return "no response in time";
      return error instanceof Error ? String(error.cause ?? error.message) : "unreachable";
    } finally {
      clearTimeout(timer);
      stopping.signal.removeEventListener("abort", stop);
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
      await Promise.all([...sending.values()].map(({ done }) => done));
    },
  };
}

/** Address and headers of a delivery. Credentials are sent as a header, because fetch rejects and quotes a URL that contains them. */
function addressOf(url: string): { address: URL; headers: Record<string, string> } {
  const address = new URL(url);
  const headers = { "content-type": "application/json" };
  const { username, password } = address;
  if (username === "" && password === "") return { address, headers };
  address.username = "";
  address.password = "";
  const login = [username, password].map(decodeURIComponent).join(":");
  return { address, headers: { ...headers, authorization: `Basic ${Buffer.from(login).toString("base64")}` } };
}
