import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Webhooks } from "../../../../service/queue/webhooks";
import { closeServer } from "../../../support/loopback";
import { openJobs } from "./support/queue-rig";
import {
  end,
  gatedReceiver,
  never,
  pendingCount,
  receiver,
  silent,
  useWebhooks,
  waitForBodies,
  waitForRetry,
} from "./support/webhooks-rig";

test("a received notification is sent once, even while its record cannot be written", async () => {
  const rig = useWebhooks();
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
  unlock();
  for (let later = 0; later < 3; later++) await rig.groupCommit.commit(() => undefined);
  expect(pendingCount(rig), "before the next attempt to write").toBe(1);
  await rig.clock.advance(1000);
  await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
  expect(gate.traffic.calls).toBe(1);
  expect(logged).toHaveLength(1);
});

test("credentials in the address are sent as Basic authentication and never logged", async () => {
  const rig = useWebhooks();
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

test("a port that fetch blocks receives its notifications", async () => {
  const rig = useWebhooks();
  rig.start();
  const server = createServer((request, response) => void request.resume().on("end", () => response.end()));
  // The first free port of those that fetch blocks and that require no privileges.
  const listen = (port: number): Promise<boolean> =>
    new Promise((resolve) =>
      server
        .once("listening", () => resolve(true))
        .once("error", () => resolve(false))
        .listen(port, "127.0.0.1"),
    );
  const blockedPorts = [10080, 6697, 6669, 6668, 6667, 6666, 6665, 6566, 5061, 5060, 4190, 4045, 3659, 2049];
  let url: string | undefined;
  for (const port of blockedPorts) if (url === undefined && (await listen(port))) url = `http://127.0.0.1:${port}/`;
  onTestFinished(() => closeServer(server));
  if (url === undefined) throw new Error("no blocked port is free");
  await expect(fetch(url)).rejects.toMatchObject({ cause: { message: "bad port" } });
  const received = new Promise((resolve) => server.once("request", resolve));
  await end(rig, url);
  await received;
  await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
});

test.each([
  ["a status other than 200", [201] as const, "status 201", 60_000],
  ["no response in time", ["hang"] as const, "no response in time", 500],
])(
  "%s is a failed attempt: three attempts are sent, and each is logged",
  async (_what, statuses, problem, webhookAnswer) => {
    const rig = useWebhooks({ webhookAnswer });
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

test("40 hosts that never respond, one of them with more notifications than all concurrent deliveries, do not delay other hosts", async () => {
  const rig = useWebhooks(never);
  rig.start();
  const slow = await Promise.all(Array.from({ length: 40 }, () => receiver("hang")));
  const quick = await receiver(200);
  for (let at = 0; at < 300; at++) await end(rig, slow[0]?.url ?? "");
  for (const { url } of slow) await end(rig, url);
  await end(rig, quick.url);
  await waitForBodies(quick.bodies, 1);
});

test("a host receives four notifications concurrently and finally all; pending bodies stay in the store", async () => {
  const rig = useWebhooks();
  let bodies = 0;
  let passes = 0;
  const webhooks: Webhooks = {
    ...rig.webhooks,
    dueHosts: (now) => {
      passes++;
      return rig.webhooks.dueHosts(now);
    },
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
  expect([bodies, passes]).toEqual([40, 1]);
});

test("bodies that exceed 128 MiB together are sent one after the other, also to different hosts", async () => {
  const rig = useWebhooks();
  const bytes = 70 * 1024 * 1024;
  const webhooks: Webhooks = {
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
    const rig = useWebhooks();
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
  const rig = useWebhooks();
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
  const rig = useWebhooks();
  const { jobs, take, webhooks, clock } = openJobs(rig.database, {
    now: () => rig.clock.now(),
    elapsed,
    sleep: rig.clock.sleep,
  });
  const job = rig.newJob({ webhook: "http://127.0.0.1:9/" });
  await jobs.submit(job);
  await take("endpoint", "w");
  await jobs.finish(job.id, { id: "w", endpointId: "endpoint" }, { output: "1" });
  webhooks.postpone(1, 1, clock.now() + 1);
  expect(webhooks.nextDue(0)).toSatisfy(Number.isInteger);
});

test("a host with a pending retry still receives its other notifications", async () => {
  const rig = useWebhooks();
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
  const rig = useWebhooks();
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
  const rig = useWebhooks();
  await end(rig, "http://127.0.0.1:9/");
  expect(pendingCount(rig)).toBe(1);
  await rig.jobs.removeEndpoint("endpoint");
  expect(pendingCount(rig)).toBe(0);
});
