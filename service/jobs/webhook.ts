import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import type { PendingWebhook, WebhookStore } from "../store/webhooks";
import { createAlarm } from "./alarm";
import type { Committer } from "./commit";
import type { JobEvents } from "./events";
import type { JobTimings } from "./timings";

/** Delivers notifications of ended jobs (interface: Events). They wait in the store, so a restart loses none. */
export interface WebhookPostman {
  start(): void;
  /** Ends deliveries; what was not received is delivered after the next start. */
  stop(): Promise<void>;
}

export interface PostmanDeps {
  webhooks: WebhookStore;
  committer: Committer;
  events: JobEvents;
  clock: Clock;
  timings: JobTimings;
  log: Pick<Logger, "info" | "warn" | "error">;
}

/** Deliveries at once; slow receivers delay only notifications, never jobs. */
const atOnce = 32;

export function createWebhookPostman({
  webhooks,
  committer,
  events,
  clock,
  timings,
  log,
}: PostmanDeps): WebhookPostman {
  const sending = new Map<number, Promise<void>>();
  const stopping = new AbortController();
  setMaxListeners(atOnce, stopping.signal);
  const alarm = createAlarm(clock, sendDue, (error) => log.error({ err: error }, "webhooks could not be sent"));
  events.on("ended", ({ webhook }) => {
    if (webhook !== undefined) alarm.by(clock.now());
  });

  async function sendDue(): Promise<number | undefined> {
    let after = 0;
    while (sending.size < atOnce && !stopping.signal.aborted) {
      const due = webhooks.due(clock.now(), after, atOnce);
      for (const webhook of due) {
        after = webhook.id;
        if (sending.size < atOnce && !sending.has(webhook.id)) begin(webhook);
      }
      if (due.length < atOnce) break;
    }
    return webhooks.nextDue(clock.now());
  }

  function begin(webhook: PendingWebhook): void {
    const delivery = deliver(webhook)
      .catch((error: unknown) => log.error({ err: error, job: webhook.jobId }, "a webhook could not be noted"))
      .finally(() => {
        sending.delete(webhook.id);
        alarm.by(clock.now());
      });
    sending.set(webhook.id, delivery);
  }

  async function deliver(webhook: PendingWebhook): Promise<void> {
    const problem = await post(webhook);
    if (stopping.signal.aborted) return;
    const attempts = webhook.attempts + 1;
    const facts = { job: webhook.jobId, attempt: attempts, problem };
    if (problem !== undefined && attempts < limits.webhook.attempts) {
      log.info(facts, "a webhook was not received and is sent again");
      await committer.commit(() => webhooks.postpone(webhook.id, attempts, clock.now() + timings.webhookDelay));
      return;
    }
    if (problem !== undefined) log.warn(facts, "a webhook was not received and is given up");
    await committer.commit(() => webhooks.remove(webhook.id));
  }

  /** Answers why it was not received; undefined when it was. */
  async function post({ url, body }: PendingWebhook): Promise<string | undefined> {
    const tooLong = new AbortController();
    const stop = (): void => tooLong.abort();
    stopping.signal.addEventListener("abort", stop, { once: true });
    const timer = setTimeout(stop, timings.webhookAnswer);
    try {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: tooLong.signal });
      await answer.body?.cancel();
      return answer.status === 200 ? undefined : `status ${answer.status}`;
    } catch (error) {
      if (tooLong.signal.aborted) return "no answer in time";
      return error instanceof Error ? String(error.cause ?? error.message) : "it cannot be reached";
    } finally {
      clearTimeout(timer);
      stopping.signal.removeEventListener("abort", stop);
    }
  }

  return {
    start: alarm.start,
    async stop() {
      stopping.abort();
      await alarm.stop();
      await Promise.all(sending.values());
    },
  };
}
