import { describe, expect, test } from "vitest";
import { isPending } from "../support/pending";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { joinAsWorker } from "./support/raw-worker";

const target = await useTarget();
const account = useAccount(target);
const minute = 60_000;
const day = 24 * 60 * minute;

describe("States and transitions: ttl expires", () => {
  test.for([
    ["of 10 s", { policy: { ttl: 10_000 } }, 8_000, 3_000],
    ["of 7 days", { policy: { ttl: 7 * day } }, 7 * day - minute, 2 * minute],
    ["by default after 24 hours", {}, day - minute, 2 * minute],
  ] as const)(
    "ttl (%s, from submission) deletes a job that is IN_QUEUE, and /status returns 404",
    async ([_which, more, before, rest], context) => {
      const jobs = await account.parked();
      const id = await jobs.submit({}, more);
      await target.advance(before, context);
      expectResponse(await jobs.status(id), 200, { status: "IN_QUEUE" });
      await target.advance(rest, context);
      await expect.poll(async () => (await jobs.status(id)).status).toBe(404);
      expect(await jobs.health()).toMatchObject({ jobs: { inQueue: 0 } });
    },
  );

  test("ttl deletes a job that is IN_PROGRESS although it runs, and /status returns 404", {
    tags: ["reading:ttl-while-running"],
  }, async (context) => {
    const jobs = await account.jobsOf("slow", context);
    const id = await jobs.submit({ ms: 120_000 }, { policy: { ttl: 10_000 } });
    await jobs.reaches(id, "IN_PROGRESS");
    await target.advance(11_000, context);
    await expect.poll(async () => (await jobs.status(id)).status).toBe(404);
    await jobs.reaches(await jobs.submit({}), "COMPLETED");
  });

  test("ttl deletes a job that is COMPLETED, and /status returns 404", async (context) => {
    const jobs = await account.jobsOf("echo", context);
    const id = await jobs.submit({}, { policy: { ttl: 10_000 } });
    await jobs.reaches(id, "COMPLETED");
    await target.advance(11_000, context);
    await expect.poll(async () => (await jobs.status(id)).status).toBe(404);
  });
});

describe("Limits: policy defaults and waits", () => {
  test("policy.executionTimeout: default 600000 ms", async (context) => {
    const worker = await joinAsWorker(target, account, context);
    target.freezeClock(context);
    const id = await worker.jobs.submit({});
    expectResponse(await worker.take(), 200, { id });
    const stateAfter = async (ms: number) => {
      // The worker continues to ping, so that only the timeout can end the job.
      for (let passed = 0; passed < ms; passed += 10_000) {
        await target.advance(Math.min(10_000, ms - passed), context);
        await worker.ping(id);
      }
      return at((await worker.jobs.status(id)).json, "status");
    };
    expect(await stateAfter(595_000)).toBe("IN_PROGRESS");
    await target.advance(6_000, context);
    await worker.jobs.reaches(id, "TIMED_OUT");
  });

  test.for([
    ["/runsync", 90],
    ["/runsync?wait=300000", 300],
  ] as const)("POST %s waits %i seconds, then returns the current record", async ([path, seconds], context) => {
    const jobs = await account.parked();
    const waiting = jobs.call("POST", path, { input: {} });
    await expect.poll(async () => (await jobs.health()).jobs["inQueue"]).toBe(1);
    await target.advance(seconds * 1000 - 5_000, context);
    expect(await isPending(waiting), "5 s before the wait ends").toBe(true);
    await target.advance(6_000, context);
    expectResponse(await waiting, 200, { status: "IN_QUEUE" });
  });
});

describe("Limits: result retention after completion", () => {
  test("Result retention after completion, /run: 30 minutes, then /status returns 404", async (context) => {
    const jobs = await account.jobsOf("echo", context);
    const id = await jobs.submit({ kept: true });
    await jobs.reaches(id, "COMPLETED");
    await target.advance(29 * minute, context);
    expectResponse(await jobs.status(id), 200, { status: "COMPLETED", output: { kept: true } });
    await target.advance(1.5 * minute, context);
    await expect.poll(async () => (await jobs.status(id)).status).toBe(404);
  });

  test("Result retention after completion, /runsync: 1 minute, then /status returns 404", {
    tags: ["reading:runsync-retention"],
  }, async (context) => {
    const jobs = await account.jobsOf("echo", context);
    const id = stringAt(await jobs.runsync({}), "id");
    await target.advance(0.8 * minute, context);
    expectResponse(await jobs.status(id), 200, { status: "COMPLETED" });
    await target.advance(5 * minute, context);
    await expect.poll(async () => (await jobs.status(id)).status).toBe(404);
  });

  test("wait controls only how long /runsync waits, not how long the result is kept", async (context) => {
    const jobs = await account.jobsOf("echo", context);
    const id = stringAt(await jobs.runsync({}, 1000), "id");
    // A busy machine may start the worker later.
    await jobs.reaches(id, "COMPLETED");
    await target.advance(10_000, context);
    expectResponse(await jobs.status(id), 200, { status: "COMPLETED" });
  });

  test("retention counts from completion, not from submission", async (context) => {
    const jobs = await account.jobsOn("echo", context, { workersMax: 0 });
    const id = await jobs.submit({});
    await target.advance(40 * minute, context);
    await account.rest("PATCH", `/endpoints/${jobs.id}`, { workersMax: 1 });
    await jobs.reaches(id, "COMPLETED");
    await target.advance(29 * minute, context);
    expectResponse(await jobs.status(id), 200, { status: "COMPLETED" });
  });

  test("POST /retry/{job_id} of a job whose result has expired returns 404", async (context) => {
    const jobs = await account.jobsOf("fail", context);
    const id = await jobs.submit({});
    await jobs.reaches(id, "FAILED");
    await target.advance(31 * minute, context);
    await expect.poll(async () => (await jobs.retry(id)).status).toBe(404);
  });
});
