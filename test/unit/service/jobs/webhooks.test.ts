import { createServer, type Server, type ServerResponse } from "node:http";
import { steadyClock } from "serverless-compute-api/clock";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defaultTimings } from "../../../../service/jobs/timings";
import { createWebhookDelivery } from "../../../../service/jobs/webhook-delivery";
import type { WebhookStore } from "../../../../service/jobs/webhook-store";
import { closeServer, listenOnLoopback } from "../../../support/loopback";
import { openJobs, useJobs } from "./support/jobs-rig";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Starts a receiver that returns `statuses` in turn and repeats the last; "hang" never responds. */
async function receiver(...statuses: (number | "hang")[]) {
  const bodies: string[] = [];
  const keys: (string | undefined)[] = [];
  const server: Server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const status = statuses[bodies.length] ?? statuses.at(-1);
    keys.push(request.headers.authorization);
    bodies.push(body);
    if (typeof status === "number") response.writeHead(status).end();
  });
  return { url: await listening(server), bodies, keys };
}

/** Starts a server on a free port, closed after the test, and returns its address. */
async function listening(server: Server): Promise<string> {
  onTestFinished(() => closeServer(server));
  return `${await listenOnLoopback(server)}/`;
}

/** Starts a receiver that responds only after `release`. Counts calls and the maximum of concurrent connections. */
async function gatedReceiver() {
  const traffic = { calls: 0, atOnce: 0 };
  const pending = new Set<ServerResponse>();
  let open = false;
  let inside = 0;
  const server = createServer((request, response) => {
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
  return { url: await listening(server), traffic, release };
}

function rigOf(timings = {}) {
  const rig = useJobs();
  /** Starts a delivery, stopped after the test. */
  function start(webhooks = rig.webhooks, log: Parameters<typeof createWebhookDelivery>[0]["log"] = silent) {
    const parts = { ...rig, clock: steadyClock(rig.clock), webhooks, log };
    const delivery = createWebhookDelivery({ ...parts, timings: { ...defaultTimings, ...timings } });
    delivery.start();
    onTestFinished(() => delivery.stop());
    return delivery;
  }
  return { ...rig, start };
}

async function end(rig: ReturnType<typeof rigOf>, webhook: string): Promise<string> {
  const id = await rig.run({ webhook });
  await rig.jobs.finish(id, rig.worker, { output: '{"a":1}' });
  return id;
}
const waitForBodies = (bodies: string[], count: number) =>
  expect.poll(() => bodies.length, { interval: 5 }).toBe(count);
/** A timeout longer than a test, so that hanging attempts never end. */
const never = { webhookAnswer: 600_000 };
const pendingCount = (rig: ReturnType<typeof rigOf>) =>
  rig.database.query("SELECT count(*) AS rows FROM webhooks", z.object({ rows: z.number() })).get()?.rows;
/** Waits until one failed attempt is recorded. */
const waitForRetry = (rig: ReturnType<typeof rigOf>) =>
  expect
    .poll(() => rig.database.query("SELECT attempts FROM webhooks", z.object({ attempts: z.number() })).all(), {
      interval: 5,
    })
    .toEqual([{ attempts: 1 }]);

test("a received notification is sent once, even while its record cannot be written", async () => {
  const rig = rigOf();
  const logged: unknown[] = [];
  const error = (line: unknown): void => void logged.push(line);
  rig.start(rig.webhooks, { ...silent, error });
  const gate = await gatedReceiver();
  await end(rig, gate.url);
  await expect.poll(() => gate.traffic.calls, { interval: 5 }).toBe(1);
  const unlock = rig.lockStore();
  gate.release();
  await expect.poll(() => logged.length, { interval: 5 }).toBe(1);
  for (let second = 0; second < 3; second++) await rig.clock.advance(1000);
  expect(pendingCount(rig)).toBe(1);
  unlock();
  await rig.clock.advance(1000);
  await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
  expect(gate.traffic.calls).toBe(1);
  expect(logged).toHaveLength(1);
});

test("credentials in the address are sent as Basic authentication and never logged", async () => {
  const rig = rigOf();
  const lines: unknown[] = [];
  const record = (...line: unknown[]): void => void lines.push(line);
  rig.start(rig.webhooks, { info: record, warn: record, error: record });
  const { url, bodies, keys } = await receiver(500, 200);
  await end(rig, url.replace("http://", "http://us%40er:hush%3A%20hush@"));
  await waitForBodies(bodies, 1);
  await expect.poll(() => lines.length, { interval: 5 }).toBe(1);
  await rig.clock.advance(10_000);
  await waitForBodies(bodies, 2);
  const basic = `Basic ${Buffer.from("us@er:hush: hush").toString("base64")}`;
  expect(keys).toEqual([basic, basic]);
  expect(JSON.stringify(lines)).not.toContain("hush");
});

test.each([
  ["a status other than 200", [201] as const, "status 201", 60_000],
  ["no response in time", ["hang"] as const, "no response in time", 500],
])(
  "%s is a failed attempt: three attempts are sent, and each is logged",
  async (_what, statuses, problem, webhookAnswer) => {
    const rig = rigOf({ webhookAnswer });
    const lines: unknown[] = [];
    const record = (...line: unknown[]): void => void lines.push(line);
    rig.start(rig.webhooks, { info: record, warn: record, error: record });
    const { url, bodies, keys } = await receiver(...statuses);
    const job = await end(rig, url);
    for (let attempt = 1; attempt <= 3; attempt++) {
      await expect.poll(() => lines.length, { interval: 5 }).toBe(attempt);
      await rig.clock.advance(10_000);
    }
    await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
    expect(bodies).toHaveLength(3);
    expect(keys).toEqual([undefined, undefined, undefined]);
    expect(lines).toEqual([
      [{ job, attempt: 1, problem }, "webhook: attempt failed; retrying"],
      [{ job, attempt: 2, problem }, "webhook: attempt failed; retrying"],
      [{ job, attempt: 3, problem }, "webhook: last attempt failed; not retried"],
    ]);
  },
);

test("40 hosts that never respond, one of them with 100 notifications, do not delay other hosts", async () => {
  const rig = rigOf(never);
  rig.start();
  const slow = await Promise.all(Array.from({ length: 40 }, () => receiver("hang")));
  const quick = await receiver(200);
  for (let at = 0; at < 100; at++) await end(rig, slow[0]?.url ?? "");
  for (const { url } of slow) await end(rig, url);
  await end(rig, quick.url);
  await waitForBodies(quick.bodies, 1);
});

test("a host receives four notifications concurrently and finally all; pending bodies stay in the store", async () => {
  const rig = rigOf();
  let bodies = 0;
  const webhooks: WebhookStore = {
    ...rig.webhooks,
    load: (id) => {
      bodies++;
      return rig.webhooks.load(id);
    },
  };
  rig.start(webhooks);
  const slow = await gatedReceiver();
  for (let at = 0; at < 40; at++) await end(rig, slow.url);
  await expect.poll(() => slow.traffic.calls, { interval: 5 }).toBe(4);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([slow.traffic.calls, bodies]).toEqual([4, 4]);
  slow.release();
  await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
  expect(slow.traffic).toEqual({ calls: 40, atOnce: 4 });
  expect(bodies).toBe(40);
});

test("bodies that exceed 128 MiB together are sent one after the other, also to different hosts", async () => {
  const rig = rigOf();
  const bytes = 70 * 1024 * 1024;
  const webhooks: WebhookStore = {
    ...rig.webhooks,
    dueOf: (...range) => rig.webhooks.dueOf(...range).map((webhook) => ({ ...webhook, bytes })),
  };
  rig.start(webhooks);
  const slow = await gatedReceiver();
  const quick = await receiver(200);
  await end(rig, slow.url);
  await expect.poll(() => slow.traffic.calls, { interval: 5 }).toBe(1);
  for (let at = 0; at < 3; at++) await end(rig, quick.url);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(quick.bodies).toEqual([]);
  slow.release();
  await waitForBodies(quick.bodies, 3);
});

test.each([-3_600_000, 3_600_000])(
  "a retry is sent after exactly its delay, also if the system time changes by %i ms",
  async (change) => {
    const rig = rigOf();
    rig.start();
    const { url, bodies } = await receiver(500, 200);
    await end(rig, url);
    await waitForRetry(rig);
    rig.clock.change(change);
    await rig.clock.advance(9999);
    expect([bodies.length, pendingCount(rig)]).toEqual([1, 1]);
    await rig.clock.advance(1);
    await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
    expect(bodies).toHaveLength(2);
  },
);

test("a retry that is pending at the start of the service is sent at once, also if the clock was set back", async () => {
  const rig = rigOf();
  const first = rig.start();
  const { url, bodies } = await receiver(500, 200);
  await end(rig, url);
  await waitForRetry(rig);
  await first.stop();
  rig.clock.change(-3_600_000);
  const next = openJobs(rig.database, rig.clock);
  next.recover(() => false);
  next.start();
  onTestFinished(() => next.stop());
  await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
  expect(bodies).toHaveLength(2);
});

test("a webhook and its retry are stored although the system's monotonic time has fractions", async () => {
  const elapsed = (): number => rig.clock.now() / 1000 + 0.5;
  const rig = rigOf();
  const { jobs, webhooks } = openJobs(rig.database, { now: () => rig.clock.now(), elapsed, sleep: rig.clock.sleep });
  const job = rig.newJob({ webhook: "http://127.0.0.1:9/" });
  await jobs.submit(job);
  await jobs.assign("endpoint", "w", 1);
  await jobs.finish(job.id, "w", { output: "1" });
  webhooks.postpone(1, 1, rig.clock.now() + 0.5);
  expect(webhooks.nextDue(0)).toBe(rig.clock.now());
});

test("a host with a pending retry still receives its other notifications", async () => {
  const rig = rigOf();
  rig.start();
  const { url, bodies } = await receiver(500, 500, 500, 500, 200);
  for (let at = 0; at < 20; at++) await end(rig, url);
  await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(4);
  expect(bodies).toHaveLength(20);
  await expect.poll(() => rig.webhooks.nextDue(rig.clock.now()), { interval: 5 }).toBe(rig.clock.now() + 10_000);
  await rig.clock.advance(10_000);
  await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
  expect(bodies).toHaveLength(24);
});

test("no notification is lost if the service ends during delivery, and its interrupted attempts do not count", async () => {
  const rig = rigOf();
  const attempts = rig.database.query("SELECT max(attempts) AS most FROM webhooks", z.object({ most: z.number() }));
  const first = rig.start();
  const { url, bodies } = await receiver(...Array.from({ length: 10 }, () => 200), "hang", "hang", "hang", "hang", 200);
  const ids = new Set<string>();
  for (let at = 0; at < 100; at++) ids.add(await end(rig, url));
  await waitForBodies(bodies, 14);
  await first.stop();
  expect(attempts.all().map(({ most }) => most)).toEqual([0]);
  rig.start();
  await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
  const receivedIds = bodies.map((body) => z.object({ id: z.string() }).parse(JSON.parse(body)).id);
  expect(new Set(receivedIds)).toEqual(ids);
});

test("the notifications of a removed endpoint are deleted", async () => {
  const rig = rigOf();
  await end(rig, "http://127.0.0.1:9/");
  expect(pendingCount(rig)).toBe(1);
  await rig.jobs.removeEndpoint("endpoint");
  expect(pendingCount(rig)).toBe(0);
});
