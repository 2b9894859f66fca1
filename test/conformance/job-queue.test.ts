import { describe, expect, test } from "vitest";
import { expectResponse, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { longJob, runLongJob } from "./support/long-job";

const target = await useTarget();
const account = useAccount(target);

describe("Job operations: /cancel, /retry, /purge-queue", () => {
  test("POST /purge-queue returns removed, the number of jobs, and status completed", async () => {
    const jobs = await account.parked();
    const ids = [await jobs.submit({}), await jobs.submit({}), await jobs.submit({})];
    const response = await jobs.call("POST", "/purge-queue");
    expectResponse(response, 200);
    expect(response.json).toEqual({ removed: 3, status: "completed" });
    for (const id of ids) expectResponse(await jobs.status(id), 404);
    expect(await jobs.health()).toMatchObject({ jobs: { inQueue: 0 } });
    expectResponse(await jobs.call("POST", "/purge-queue"), 200, { removed: 0, status: "completed" });
  });

  const types = ["application/json", "application/x-www-form-urlencoded", "text/plain;charset=UTF-8"];
  const withoutBody = ["/purge-queue", "/cancel/{job_id}", "/retry/{job_id}"];
  test.each(withoutBody.flatMap((path) => types.map((type) => [path, type] as const)))(
    "POST %s without a body but with the content type %s is accepted",
    async (path, type) => {
      const jobs = await account.parked();
      const id = await jobs.submit({});
      const response = await send("POST", `${jobs.root}${path.replace("{job_id}", id)}`, {
        key: target.apiKey,
        text: "",
        headers: { "content-type": type },
      });
      // Only a job that has ended can be retried.
      expectResponse(response, path.startsWith("/retry") ? 400 : 200);
      expect(response.text).not.toContain("Content-Type");
    },
  );
});

describe("Job operations: /health", () => {
  const names = {
    jobs: ["completed", "failed", "inProgress", "inQueue", "retried"],
    workers: ["idle", "running", "initializing", "ready", "throttled", "unhealthy"],
  };

  test("GET /health of a new endpoint returns every counter as 0", async () => {
    const health = await (await account.parked()).health();
    const zeros = (keys: string[]) => Object.fromEntries(keys.map((key) => [key, 0]));
    expect(health).toMatchObject({ jobs: zeros(names.jobs), workers: zeros(names.workers) });
  });

  test("GET /health counts queued, running, completed and failed jobs, and busy workers", async (context) => {
    const slow = await account.jobsOn("slow", context);
    const { end } = await runLongJob(target, context, slow);
    await slow.submit({});
    expect(await slow.health()).toMatchObject({
      jobs: { inProgress: 1, inQueue: 1, completed: 0, failed: 0 },
      workers: { running: 1, idle: 0 },
    });
    end();
    await expect.poll(async () => (await slow.health()).jobs["completed"]).toBe(2);
    expect(await slow.health()).toMatchObject({
      jobs: { inProgress: 0, inQueue: 0, completed: 2 },
      workers: { running: 0, idle: 1 },
    });

    const failing = await account.jobsOn("fail", context);
    await failing.reaches(await failing.submit({}), "FAILED");
    expect(await failing.health()).toMatchObject({ jobs: { failed: 1, completed: 0 } });
  });
});

describe("Queue: when jobs wait for workers", () => {
  test("a job stays queued if no worker is available", { tags: ["reading:stays-queued"] }, async (context) => {
    // No command runs this image.
    const jobs = await account.parked({ workersMax: 1, scalerType: "REQUEST_COUNT", scalerValue: 1 });
    const id = await jobs.submit({});
    if (!target.isExternal) await expect.poll(async () => (await jobs.health()).workers["throttled"]).toBe(1);
    await target.advance(2_000, context);
    expectResponse(await jobs.status(id), 200, { status: "IN_QUEUE" });
    expect(await jobs.health()).toMatchObject({ jobs: { inQueue: 1, failed: 0 }, workers: { idle: 0, running: 0 } });
  });

  test("a job stays queued while the maximum number of workers is reached", async (context) => {
    const jobs = await account.jobsOn("slow", context);
    const { id: running, end } = await runLongJob(target, context, jobs);
    const waiting = await jobs.submit({});
    await target.advance(10_000, context);
    expectResponse(await jobs.status(waiting), 200, { status: "IN_QUEUE" });
    expectResponse(await jobs.status(running), 200, { status: "IN_PROGRESS" });
    expect(await jobs.health()).toMatchObject({ workers: { running: 1, idle: 0, initializing: 0 } });
    end();
    await jobs.reaches(waiting, "COMPLETED");
  });

  test("workersMax jobs run concurrently", async (context) => {
    const jobs = await account.jobsOn("slow", context, { workersMax: 2 });
    const { input, end } = longJob(target, context);
    const ids = [await jobs.submit(input), await jobs.submit(input)];
    for (const id of ids) await jobs.reaches(id, "IN_PROGRESS");
    expect(await jobs.health()).toMatchObject({ jobs: { inProgress: 2 }, workers: { running: 2 } });
    end();
  });

  test("a lowPriority job does not start workers and runs after another job has started one", async (context) => {
    const jobs = await account.jobsOn("echo", context);
    const low = await jobs.submit({ low: true }, { policy: { lowPriority: true } });
    await target.advance(5_000, context);
    expectResponse(await jobs.status(low), 200, { status: "IN_QUEUE" });
    expect(await jobs.health()).toMatchObject({ workers: { idle: 0, running: 0, initializing: 0 } });
    await jobs.reaches(await jobs.submit({}), "COMPLETED");
    await jobs.reaches(low, "COMPLETED");
  });

  test("deleting an endpoint removes its job API and its jobs", async () => {
    const jobs = await account.parked();
    const id = await jobs.submit({});
    await account.rest("DELETE", `/endpoints/${jobs.id}`);
    for (const response of [await jobs.status(id), await jobs.call("GET", "/health")]) {
      expectResponse(response, 404);
      expect(stringAt(response, "error")).not.toBe("");
    }
  });
});
