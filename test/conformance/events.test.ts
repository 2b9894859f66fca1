import { randomBytes } from "node:crypto";
import { describe, expect, type TestContext, test } from "vitest";
import type { JobApi } from "../support/job-api";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { type HandlerName, useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { needsReachableReceiver, useWebhookReceiver } from "./support/webhook-receiver";

const target = await useTarget();
const account = useAccount(target);
const receiver = await useWebhookReceiver();

/** Creates a webhook receiver and the job API of an endpoint, without workers if no handler is given. */
async function setUp(context: TestContext, handler?: HandlerName) {
  needsReachableReceiver(target, context);
  const name = randomBytes(6).toString("hex");
  const webhook = receiver.address(name);
  return { jobs: await (handler ? account.jobsOf(handler, context) : account.parked()), name, webhook };
}

/** Waits until two later notifications have arrived one after the other, because those due earlier are sent before them. */
async function settle(jobs: JobApi): Promise<void> {
  for (const name of [0, 1].map(() => randomBytes(6).toString("hex"))) {
    await jobs.cancel(await jobs.submit({}, { webhook: receiver.address(name) }));
    await receiver.call(name);
  }
}

describe("Events: webhook notification of job completion", () => {
  test("a job COMPLETED notifies its webhook by a POST of the /status body with input and webhook", async (context) => {
    const { jobs, name, webhook } = await setUp(context, "echo");
    const id = await jobs.submit({ prompt: "ping" }, { webhook });
    const call = await receiver.call(name);
    expect(call.method).toBe("POST");
    expect(call.headers["content-type"]).toContain("application/json");
    expect(call.json).toMatchObject({
      id,
      status: "COMPLETED",
      output: { prompt: "ping" },
      input: { prompt: "ping" },
      webhook,
    });
    expect(at(call.json, "executionTime")).toBe(at((await jobs.status(id)).json, "executionTime"));
    expect(JSON.stringify([call.headers, call.json])).not.toContain(target.apiKey);
  });

  test("a job submitted by /runsync notifies its webhook", async (context) => {
    const { jobs, name, webhook } = await setUp(context, "echo");
    const response = await jobs.runsync({}, 20_000, { webhook });
    expect((await receiver.call(name)).json).toMatchObject({ id: stringAt(response, "id"), status: "COMPLETED" });
  });

  test("a job FAILED notifies its webhook with the error", async (context) => {
    const { jobs, name, webhook } = await setUp(context, "fail");
    const id = await jobs.submit({ message: "no such model" }, { webhook });
    const call = await receiver.call(name);
    expect(call.json).toMatchObject({ id, status: "FAILED", input: { message: "no such model" }, webhook });
    expect(JSON.stringify(call.json)).toContain("no such model");
  });

  test("a job CANCELLED notifies its webhook", async (context) => {
    const { jobs, name, webhook } = await setUp(context);
    const id = await jobs.submit({}, { webhook });
    await jobs.cancel(id);
    expect((await receiver.call(name)).json).toMatchObject({ id, status: "CANCELLED", input: {}, webhook });
  });

  test("a job TIMED_OUT notifies its webhook", async (context) => {
    const { jobs, name, webhook } = await setUp(context, "slow");
    const id = await jobs.submit({ ms: 120_000 }, { webhook, policy: { executionTimeout: 5000 } });
    await jobs.reaches(id, "IN_PROGRESS");
    await target.advance(5_500, context);
    expect((await receiver.call(name)).json).toMatchObject({
      id,
      status: "TIMED_OUT",
      input: { ms: 120_000 },
      webhook,
    });
  });

  test("a receiver that returns 500, 204 or 302 receives up to 2 more attempts, 10 seconds apart; after a 200 there are none", async (context) => {
    const { jobs } = await setUp(context);
    const rows = [
      { statuses: [500], calls: [1, 2, 3, 3] },
      { statuses: [204], calls: [1, 2, 3, 3] },
      { statuses: [302], calls: [1, 2, 3, 3] },
      { statuses: [503, 200], calls: [1, 2, 2, 2] },
      { statuses: [200], calls: [1, 1, 1, 1] },
    ].map((row) => ({ ...row, name: randomBytes(6).toString("hex") }));
    const received = () => rows.map(({ name }) => receiver.calls(name).length);
    const expected = (attempt: number) => rows.map(({ calls }) => calls[attempt]);
    for (const { name, statuses } of rows)
      await jobs.cancel(await jobs.submit({}, { webhook: receiver.address(name, ...statuses) }));
    for (const attempt of [0, 1, 2]) {
      await expect.poll(received).toEqual(expected(attempt));
      await settle(jobs);
      await target.advance(7_000, context);
      await settle(jobs);
      expect(received(), "calls before the end of the 10 s").toEqual(expected(attempt));
      await target.advance(3_000, context);
    }
    await settle(jobs);
    expect(received()).toEqual(expected(3));
  });

  test("an unreachable receiver affects neither its job nor the queue", async (context) => {
    const { jobs } = await setUp(context, "echo");
    const id = await jobs.submit({ kept: true }, { webhook: "http://127.0.0.1:1/nobody" });
    await jobs.reaches(id, "COMPLETED");
    expectResponse(await jobs.runsync({}), 200, { status: "COMPLETED" });
    expectResponse(await jobs.status(id), 200, { output: { kept: true } });
  });

  test("a job that /purge-queue removed sends no notification", async (context) => {
    const { jobs, name, webhook } = await setUp(context);
    await jobs.submit({}, { webhook });
    await jobs.call("POST", "/purge-queue");
    await settle(jobs);
    expect(receiver.calls(name)).toHaveLength(0);
  });
});
