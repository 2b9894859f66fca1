import { createServer, type Server } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { defaultTimings } from "../../../../service/jobs/timings";
import { createWebhookPostman } from "../../../../service/jobs/webhook";
import { openLedger } from "./support/ledger-rig";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A receiver that answers `statuses` in turn, the last one from then on; "hang" never answers. */
async function receiver(...statuses: (number | "hang")[]) {
  const bodies: string[] = [];
  const server: Server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const status = statuses[bodies.length] ?? statuses.at(-1);
    bodies.push(body);
    if (typeof status === "number") response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the receiver has no port");
  return { url: `http://127.0.0.1:${bound.port}/`, bodies };
}

function rigOf(timings = {}) {
  const rig = openLedger();
  onTestFinished(() => rig.close());
  const open = () => createWebhookPostman({ ...rig, timings: { ...defaultTimings, ...timings }, log: silent });
  return { ...rig, open };
}

async function end(rig: ReturnType<typeof rigOf>, webhook: string): Promise<string> {
  const job = rig.newJob({ webhook });
  await rig.ledger.submit(job);
  await rig.ledger.take(job.id, "w");
  await rig.ledger.finish(job.id, "w", { output: '{"a":1}' });
  return job.id;
}
const seen = (bodies: string[], count: number) => expect.poll(() => bodies.length, { interval: 5 }).toBe(count);
const left = (rig: ReturnType<typeof rigOf>) => rig.webhooks.due(Number.MAX_SAFE_INTEGER, 0, 100).length;

test("the receiver gets the record of the job, once", async () => {
  const rig = rigOf();
  const postman = rig.open();
  postman.start();
  const { url, bodies } = await receiver(200);
  const id = await end(rig, url);
  await seen(bodies, 1);
  expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ id, status: "COMPLETED", output: { a: 1 } });
  await expect.poll(() => left(rig), { interval: 5 }).toBe(0);
  await postman.stop();
});

test("a receiver that fails is asked two more times, 10 s apart, and then given up", async () => {
  const rig = rigOf();
  const postman = rig.open();
  postman.start();
  const { url, bodies } = await receiver(500);
  await end(rig, url);
  for (const attempt of [1, 2]) {
    await seen(bodies, attempt);
    await expect.poll(() => rig.webhooks.nextDue(rig.clock.now()), { interval: 5 }).toBe(rig.clock.now() + 10_000);
    await rig.clock.advance(9_999);
    expect(bodies).toHaveLength(attempt);
    await rig.clock.advance(1);
  }
  await seen(bodies, 3);
  await expect.poll(() => left(rig), { interval: 5 }).toBe(0);
  await postman.stop();
});

test("what the service had not delivered when it ended is delivered after its next start", async () => {
  const rig = rigOf();
  const first = rig.open();
  first.start();
  const { url, bodies } = await receiver("hang", 200);
  await end(rig, url);
  await seen(bodies, 1);
  await first.stop();
  expect(left(rig)).toBe(1);
  const second = rig.open();
  second.start();
  await seen(bodies, 2);
  await expect.poll(() => left(rig), { interval: 5 }).toBe(0);
  await second.stop();
});

test("receivers that never answer hold up no one else's notification", async () => {
  const rig = rigOf({ webhookAnswer: 200 });
  const postman = rig.open();
  postman.start();
  const slow = await receiver("hang");
  const quick = await receiver(200);
  await Promise.all(Array.from({ length: 40 }, () => end(rig, slow.url)));
  await end(rig, quick.url);
  await seen(quick.bodies, 1);
  await postman.stop();
});
