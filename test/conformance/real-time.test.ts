import { createServer } from "node:http";
import { systemClock } from "serverless-compute-api/clock";
import { describe, expect, type TestContext, test, vi } from "vitest";
import { at, expectAnswer, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { comesAfter, expectPassed } from "./support/real-time";
import { needsReachableReceiver } from "./support/webhook-receiver";

// Concurrent, because the shortest ttl of the interface is 10 s and each test only waits. Concurrent tests must take hooks
// and assertions from their own context.
vi.setConfig({ maxConcurrency: 20, testTimeout: 60_000 });

const timings = {
  stopGrace: 500,
  streamHold: 500,
  webhookAnswer: 2500,
  webhookDelay: 700,
  runRetention: 1500,
  runsyncRetention: 1000,
};
const target = await useTarget({ clock: systemClock, timings });
const account = useAccount(target);
const needsTimings = (context: TestContext): void =>
  target.localOnly(context, "the length of this wait is a setting of the local service");
const isGone = ({ status }: { status: number }): boolean => status === 404;

/** A webhook receiver that records the times of its calls; it returns 500 or never responds. */
async function receive(context: TestContext, answers: boolean): Promise<{ url: string; times: number[] }> {
  needsReachableReceiver(target, context);
  const times: number[] = [];
  const server = createServer((request, response) => {
    times.push(Date.now());
    request.resume();
    if (answers) response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${at(server.address(), "port")}/`, times };
}

describe.concurrent("Time-based rules of jobs in real time", () => {
  test("ttl of 10 s: a job IN_QUEUE is gone 10 s after its submission", async () => {
    const jobs = await account.parked();
    const since = Date.now();
    const id = await jobs.submit({}, { policy: { ttl: 10_000 } });
    await comesAfter(since, 10_000, () => jobs.status(id), isGone);
  });

  test("ttl of 10 s: a job IN_PROGRESS is gone 10 s after its submission, and stopped", async (context) => {
    const jobs = await account.jobsOn("slow", context);
    const since = Date.now();
    const id = await jobs.submit({ ms: 120_000 }, { policy: { ttl: 10_000 } });
    await jobs.reaches(id, "IN_PROGRESS");
    await comesAfter(since, 10_000, () => jobs.status(id), isGone);
    // The only worker takes another one.
    await jobs.reaches(await jobs.submit({ ms: 60_000 }), "IN_PROGRESS");
  });

  test("policy.executionTimeout of 5 s: a job that runs is TIMED_OUT after 5 s", async (context) => {
    const jobs = await account.jobsOn("slow", context);
    const id = await jobs.submit({ ms: 120_000 }, { policy: { executionTimeout: 5000 } });
    const { json } = await jobs.reaches(id, "TIMED_OUT");
    expect(at(json, "executionTime")).toBeGreaterThanOrEqual(5000);
  });

  test("the endpoint's executionTimeoutMs of 5 s: a job that runs is TIMED_OUT after 5 s", async (context) => {
    const jobs = await account.jobsOn("slow", context, { executionTimeoutMs: 5000 });
    const { json } = await jobs.reaches(await jobs.submit({ ms: 120_000 }), "TIMED_OUT");
    expect(at(json, "executionTime")).toBeGreaterThanOrEqual(5000);
  });

  test("rate limit of /purge-queue: a third call within 10 s returns 429, and 200 when the first is 10 s old", async () => {
    const jobs = await account.parked();
    const purge = () => jobs.call("POST", "/purge-queue");
    const since = Date.now();
    expectAnswer(await purge(), 200);
    expectAnswer(await purge(), 200);
    const refused = await purge();
    // On a machine that slept meanwhile the first call is old already.
    if (Date.now() - since < 10_000) expectAnswer(refused, 429);
    await comesAfter(since, 10_000, purge, ({ status }) => status === 200);
  });

  test("retention of 1.5 s: the result of /run is gone 1.5 s after its end", async (context) => {
    needsTimings(context);
    const jobs = await account.jobsOn("echo", context);
    const since = Date.now();
    const id = await jobs.submit({});
    await comesAfter(since, timings.runRetention, () => jobs.status(id), isGone);
    expectAnswer(await jobs.health(), 200, { jobs: { completed: 1, inQueue: 0, inProgress: 0 } });
  });

  test("retention of 1 s: the result of /runsync is gone 1 s after its end", async (context) => {
    needsTimings(context);
    const jobs = await account.jobsOn("echo", context);
    const since = Date.now();
    const id = stringAt(await jobs.runsync({}), "id");
    await comesAfter(since, timings.runsyncRetention, () => jobs.status(id), isGone);
  });

  for (const path of ["/runsync?wait=1000", "/status-sync/<id>?wait=1000"]) {
    test(`${path} returns the current record after 1 s`, async () => {
      const jobs = await account.parked();
      const id = await jobs.submit({});
      const since = Date.now();
      const answer = path.startsWith("/runsync")
        ? await jobs.runsync({}, 1000)
        : await jobs.call("GET", path.replace("<id>", id));
      expectPassed(since, 1000, answer.request);
      expectAnswer(answer, 200, { status: "IN_QUEUE" });
    });
  }

  test("/stream of a job without chunks is held for streamHold", async (context) => {
    needsTimings(context);
    const jobs = await account.parked();
    const id = await jobs.submit({});
    const since = Date.now();
    expectAnswer(await jobs.call("GET", `/stream/${id}`), 200, []);
    expectPassed(since, timings.streamHold, "/stream");
  });

  for (const answers of [true, false]) {
    const what = answers ? "returns 500" : "does not respond within webhookAnswer";
    test(`a webhook's receiver that ${what} gets 2 more attempts, webhookDelay apart`, async (context) => {
      needsTimings(context);
      const { url, times } = await receive(context, answers);
      const jobs = await account.parked();
      const since = Date.now();
      await jobs.cancel(await jobs.submit({}, { webhook: url }));
      // With the defaults it takes 20 s.
      await context.expect.poll(() => times.length, { timeout: 18_000 }).toBe(3);
      const wait = timings.webhookDelay + (answers ? 0 : timings.webhookAnswer);
      expectPassed(since, 2 * wait, "the third call");
    });
  }
});
