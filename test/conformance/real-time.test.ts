import { createServer } from "node:http";
import { systemClock } from "serverless-compute-api/clock";
import { describe, expect, type TestContext, test, vi } from "vitest";
import { closeServer, listenOnLoopback } from "../support/loopback";
import { expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { comesAfter, expectPassed } from "./support/real-time";

// Concurrent, because each test mostly waits. Concurrent tests must use the hooks and assertions of their own context.
vi.setConfig({ maxConcurrency: 20 });

const timings = {
  stopGrace: 500,
  streamHold: 500,
  webhookAnswer: 400,
  webhookDelay: 900,
  runRetention: 1500,
  runsyncRetention: 1000,
};
const target = await useTarget({ clock: systemClock, timings });
const account = useAccount(target);
const needsTimings = (context: TestContext): void =>
  target.localOnly(context, "the length of this wait is a setting of the local service");
const isGone = ({ status }: { status: number }): boolean => status === 404;

describe.concurrent("Time-based rules of jobs in real time", () => {
  test("retention of 1.5 s: the result of /run expires 1.5 s after its end", async (context) => {
    needsTimings(context);
    const jobs = await account.jobsOn("echo", context);
    const startTime = Date.now();
    const id = await jobs.submit({});
    await comesAfter(startTime, timings.runRetention, () => jobs.status(id), isGone);
    expect(await jobs.health()).toMatchObject({ jobs: { completed: 1, inQueue: 0, inProgress: 0 } });
  });

  test("retention of 1 s: the result of /runsync expires 1 s after its end", async (context) => {
    needsTimings(context);
    const jobs = await account.jobsOn("echo", context);
    const startTime = Date.now();
    const id = stringAt(await jobs.runsync({}), "id");
    await comesAfter(startTime, timings.runsyncRetention, () => jobs.status(id), isGone);
  });

  test("/stream of a job without chunks is held for streamHold", async (context) => {
    needsTimings(context);
    const jobs = await account.parked();
    const id = await jobs.submit({});
    const startTime = Date.now();
    expectResponse(await jobs.call("GET", `/stream/${id}`), 200, []);
    expectPassed(startTime, timings.streamHold, "/stream");
  });

  test("a webhook's receiver that does not respond within webhookAnswer receives 2 more attempts, webhookDelay apart", async (context) => {
    needsTimings(context);
    const times: number[] = [];
    const server = createServer((request) => {
      times.push(Date.now());
      request.resume();
    });
    const webhook = await listenOnLoopback(server);
    context.onTestFinished(() => closeServer(server));
    const jobs = await account.parked();
    const startTime = Date.now();
    await jobs.cancel(await jobs.submit({}, { webhook }));
    // With either default, this takes 20 s.
    await context.expect.poll(() => times.length, { timeout: 18_000 }).toBe(3);
    const wait = 2 * (timings.webhookAnswer + timings.webhookDelay);
    expect(times.at(-1), "the third call").toBeGreaterThanOrEqual(startTime + wait - 5);
  });
});
