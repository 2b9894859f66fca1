import { describe, expect, test } from "vitest";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { runLongJob } from "./support/long-job";

const target = await useTarget();
const account = useAccount(target);

describe("States and transitions", () => {
  test("POST /cancel/{job_id} on a job IN_QUEUE returns CANCELLED and removes it from the queue", async (context) => {
    const jobs = await account.jobsOn("echo", context, { workersMax: 0 });
    const id = await jobs.submit({});
    expectResponse(await jobs.cancel(id), 200, { id, status: "CANCELLED" });
    expect(await jobs.health()).toMatchObject({ jobs: { inQueue: 0 } });
    await account.rest("PATCH", `/endpoints/${jobs.id}`, { workersMax: 1 });
    await jobs.reaches(await jobs.submit({}), "COMPLETED");
    expectResponse(await jobs.status(id), 200, { id, status: "CANCELLED" });
  });

  test("POST /cancel/{job_id} on a job IN_PROGRESS returns CANCELLED immediately and stops the job", async (context) => {
    const jobs = await account.jobsOf("slow", context);
    const id = await jobs.submit({ ms: 120_000 });
    await jobs.reaches(id, "IN_PROGRESS");
    const response = await jobs.cancel(id);
    expectResponse(response, 200, { id, status: "CANCELLED" });
    // With at most one worker, another job runs only once the cancelled job is stopped.
    await jobs.reaches(await jobs.submit({}), "COMPLETED");
    const later = await jobs.status(id);
    expectResponse(later, 200, { status: "CANCELLED" });
    expect(at(later.json, "output")).toBeUndefined();
  });

  test("POST /retry/{job_id} requeues a FAILED job with its id and its input, without its previous output", async (context) => {
    const jobs = await account.jobsOn("fail", context);
    const id = await jobs.submit({ message: "the original input" });
    await jobs.reaches(id, "FAILED");
    await account.rest("PATCH", `/endpoints/${jobs.id}`, { workersMax: 0 });
    expectResponse(await jobs.retry(id), 200, { id, status: "IN_QUEUE" });
    const waiting = await jobs.status(id);
    expectResponse(waiting, 200, { id, status: "IN_QUEUE" });
    expect(waiting.json).not.toHaveProperty("output");
    expect(waiting.text).not.toContain("the original input");
    await account.rest("PATCH", `/endpoints/${jobs.id}`, { workersMax: 1 });
    const again = await jobs.reaches(id, "FAILED");
    expect(again["error"]).toContain("the original input");
  });

  test("a job that exceeds policy.executionTimeout is stopped and TIMED_OUT; POST /retry/{job_id} requeues it", async (context) => {
    const jobs = await account.jobsOf("slow", context);
    const id = await jobs.submit({ ms: 120_000 }, { policy: { executionTimeout: 6000 } });
    await jobs.reaches(id, "IN_PROGRESS");
    await target.advance(3_000, context);
    expectResponse(await jobs.status(id), 200, { status: "IN_PROGRESS" });
    await target.advance(4_000, context);
    await jobs.reaches(id, "TIMED_OUT");
    await jobs.reaches(await jobs.submit({}), "COMPLETED");
    expectResponse(await jobs.retry(id), 200, { id, status: "IN_QUEUE" });
    await jobs.reaches(id, "IN_PROGRESS");
    await jobs.cancel(id);
  });

  test.each(["IN_QUEUE", "CANCELLED"])(
    "POST /retry/{job_id} on a job %s returns 400 and does not change it",
    async (state) => {
      const jobs = await account.parked();
      const id = await jobs.submit({});
      if (state === "CANCELLED") await jobs.cancel(id);
      const response = await jobs.retry(id);
      expectResponse(response, 400);
      expect(response.text).toContain(state);
      expectResponse(await jobs.status(id), 200, { status: state });
    },
  );

  test("POST /retry/{job_id} on a job IN_PROGRESS or COMPLETED returns 400; neither it nor /cancel changes a finished job", async (context) => {
    const jobs = await account.jobsOf("slow", context);
    const { id, end } = await runLongJob(target, context, jobs);
    expectResponse(await jobs.retry(id), 400);
    expectResponse(await jobs.status(id), 200, { status: "IN_PROGRESS" });
    end();
    const finished = await jobs.reaches(id, "COMPLETED");
    const response = await jobs.retry(id);
    expectResponse(response, 400);
    expect(response.text).toContain("COMPLETED");
    expectResponse(await jobs.cancel(id), 200, { id, status: "COMPLETED" });
    expect((await jobs.status(id)).json).toEqual(finished);
  });

  test("POST /purge-queue removes queued jobs and does not affect the running job", async (context) => {
    const jobs = await account.jobsOf("slow", context);
    const { id: running, end } = await runLongJob(target, context, jobs);
    const waiting = [await jobs.submit({}), await jobs.submit({})];
    expectResponse(await jobs.call("POST", "/purge-queue"), 200, { removed: 2, status: "completed" });
    for (const id of waiting) expectResponse(await jobs.status(id), 404);
    end();
    await jobs.reaches(running, "COMPLETED");
  });
});

const retries = ["reading:automatic-retries"];

describe("States and transitions: transitions outside the table", () => {
  test("a job whose handler throws or returns {error} is FAILED with the message, and is not retried", {
    tags: retries,
  }, async (context) => {
    const jobs = await account.jobsOn("fail", context);
    const thrown = await jobs.runsync({ message: "out of paper" });
    expectResponse(thrown, 200, { status: "FAILED" });
    expect(stringAt(thrown, "error")).toContain("out of paper");
    const returned = await jobs.runsync({ answer: true, message: "out of ink" });
    expectResponse(returned, 200, { status: "FAILED" });
    expect(JSON.stringify(at(returned.json, "error"))).toContain("out of ink");
    expect(await jobs.health()).toMatchObject({ jobs: { failed: 2, retried: 0, inQueue: 0 } });
  });

  test("a job whose worker crashes is FAILED with the cause, not requeued forever", {
    tags: retries,
  }, async (context) => {
    const jobs = await account.jobsOn("crash", context);
    const id = await jobs.submit({});
    // Crashed workers are restarted with exponential backoff.
    const stateLater = async (): Promise<unknown> => {
      await target.advance(500, context);
      return at((await jobs.status(id)).json, "status");
    };
    await expect.poll(stateLater, { interval: 50 }).toBe("FAILED");
    const response = await jobs.status(id);
    expectResponse(response, 200, { status: "FAILED" });
    expect(stringAt(response, "error")).toContain("crashed on purpose");
  });

  test("policy.executionTimeout does not count the time in the queue", async (context) => {
    const jobs = await account.parked();
    const id = await jobs.submit({}, { policy: { executionTimeout: 5000 } });
    await target.advance(8_000, context);
    expectResponse(await jobs.status(id), 200, { status: "IN_QUEUE" });
  });

  test("the endpoint's executionTimeoutMs applies to jobs without their own", async (context) => {
    const jobs = await account.jobsOn("slow", context, { executionTimeoutMs: 5000 });
    const id = await jobs.submit({ ms: 120_000 });
    await jobs.reaches(id, "IN_PROGRESS");
    await target.advance(5_500, context);
    await jobs.reaches(id, "TIMED_OUT");
  });
});
