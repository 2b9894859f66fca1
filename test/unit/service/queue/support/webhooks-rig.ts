import type { ServerResponse } from "node:http";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import { createWebhookDelivery } from "../../../../../service/queue/webhooks";
import { defaultTimings } from "../../../../../service/timings";
import { serve } from "../../../../support/loopback";
import { useJobs } from "./queue-rig";

/** A log that discards all lines. */
export const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Starts a receiver that returns `statuses` in turn and repeats the last; "hang" never responds. */
export async function receiver(...statuses: (number | "hang")[]) {
  const bodies: string[] = [];
  const keys: (string | undefined)[] = [];
  const origin = await serve(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const status = statuses[bodies.length] ?? statuses.at(-1);
    keys.push(request.headers.authorization);
    bodies.push(body);
    if (typeof status === "number") response.writeHead(status).end();
  });
  return { url: `${origin}/`, bodies, keys };
}

/** Starts a receiver that responds only after `release`. Counts calls and the maximum of concurrent connections. */
export async function gatedReceiver() {
  const traffic = { calls: 0, atOnce: 0 };
  const pending = new Set<ServerResponse>();
  let open = false;
  let inside = 0;
  const origin = await serve((request, response) => {
    traffic.calls++;
    traffic.atOnce = Math.max(traffic.atOnce, ++inside);
    request.resume();
    response.once("close", () => inside--);
    if (open) response.writeHead(200).end();
    else pending.add(response);
  });
  const release = (): void => {
    open = true;
    for (const response of pending) response.writeHead(200).end();
  };
  return { url: `${origin}/`, traffic, release };
}

/** Jobs on a real store, and deliveries of their webhooks. */
export function useWebhooks(timings = {}) {
  const rig = useJobs();
  /** Starts a delivery, stopped after the test. */
  function start(webhooks = rig.webhooks, log: Parameters<typeof createWebhookDelivery>[0]["log"] = silent) {
    const parts = { ...rig, clock: rig.steady, webhooks, log };
    const delivery = createWebhookDelivery({ ...parts, timings: { ...defaultTimings, ...timings } });
    delivery.start();
    onTestFinished(() => delivery.stop());
    return delivery;
  }
  return { ...rig, start };
}

/** Ends a job with a webhook; returns its id. */
export async function end(rig: ReturnType<typeof useWebhooks>, webhook: string): Promise<string> {
  const id = await rig.run({ webhook });
  await rig.jobs.finish(id, rig.worker, { output: '{"a":1}' });
  return id;
}
/** Waits until a receiver has `count` bodies. */
export const waitForBodies = (bodies: string[], count: number) =>
  expect.poll(() => bodies.length, { interval: 5 }).toBe(count);
/** A timeout longer than a test, so that hanging attempts never end. */
export const never = { webhookAnswer: 600_000 };
/** Number of stored webhooks. */
export const pendingCount = (rig: ReturnType<typeof useWebhooks>) =>
  rig.database.query("SELECT count(*) AS rows FROM webhooks", z.object({ rows: z.number() })).get()?.rows;
/** Waits until one failed attempt is recorded. */
export const waitForRetry = (rig: ReturnType<typeof useWebhooks>) =>
  expect
    .poll(() => rig.database.query("SELECT attempts FROM webhooks", z.object({ attempts: z.number() })).all(), {
      interval: 5,
    })
    .toEqual([{ attempts: 1 }]);
