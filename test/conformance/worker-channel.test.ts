import { describe, expect, type TestContext, test } from "vitest";
import { at, expectResponse, pollUntil, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { type RawWorker, useWorker } from "./support/raw-worker";

const target = await useTarget();
const account = useAccount(target);
// Each test ends its jobs.
const joined = useWorker(target, account);

/** Waits until the service holds job-takes of `count` workers. The timeout is shorter than the 20 s for which it holds one. */
const takesHeld = (worker: RawWorker, count: number) =>
  expect.poll(async () => (await worker.jobs.health()).workers["ready"], { timeout: 10_000 }).toBe(count);

describe("Worker channel: taking jobs", () => {
  test("GET job-take waits until a job arrives", async (context) => {
    const worker = await joined(context);
    const taking = worker.take();
    await takesHeld(worker, 1);
    const id = await worker.jobs.submit({});
    expectResponse(await taking, 200, { id });
    await worker.done(id, {});
  });

  test("GET job-take returns 204 if no job arrives within 90 s", async (context) => {
    const worker = await joined(context);
    const taking = worker.take();
    await takesHeld(worker, 1);
    await target.advance(90_000, context);
    const response = await taking;
    expectResponse(response, [204, 400]);
    expect(response.text).toBe("");
  });

  test("a worker that disconnects while it waits loses no job", async (context) => {
    const worker = await joined(context);
    const end = new AbortController();
    const taking = worker.take(end.signal).catch(() => undefined);
    await takesHeld(worker, 1);
    end.abort();
    await taking;
    await takesHeld(worker, 0);
    const id = await worker.jobs.submit({});
    expectResponse(await worker.take(), 200, { id });
    await worker.done(id, {});
  });

  test("a job is delivered to one worker only", async (context) => {
    const worker = await joined(context);
    const takes = [worker.take(), worker.take(undefined, "conformance-other")];
    await takesHeld(worker, 2);
    const first = await worker.jobs.submit({});
    await Promise.race(takes);
    // The other worker is still waiting, and gets the next job.
    const second = await worker.jobs.submit({});
    const taken = (await Promise.all(takes)).map((response) => stringAt(response, "id"));
    expect(taken.sort()).toEqual([first, second].sort());
    for (const id of taken) await worker.jobs.cancel(id);
    for (const id of taken) await worker.done(id, {});
  });

  test("GET job-take-batch returns a list of up to batch_size jobs", async (context) => {
    const worker = await joined(context);
    const ids: string[] = [];
    for (const n of [0, 1, 2]) ids.push(await worker.jobs.submit({ n }));
    const response = await worker.takeBatch(2);
    expectResponse(response, 200);
    expect(response.json).toMatchObject([
      { id: ids[0], input: { n: 0 } },
      { id: ids[1], input: { n: 1 } },
    ]);
    expect(response.json).toHaveLength(2);
    expect(await worker.jobs.health()).toMatchObject({ jobs: { inProgress: 2, inQueue: 1 } });
    for (const id of ids) await worker.jobs.cancel(id);
    for (const id of ids.slice(0, 2)) await worker.done(id, {});
  });

  test("s3Config of the submission is delivered to the worker", async (context) => {
    const worker = await joined(context);
    const s3Config = { accessId: "id", accessSecret: "quiet", bucketName: "b", endpointUrl: "http://127.0.0.1:9" };
    const id = await worker.jobs.submit({}, { s3Config });
    expectResponse(await worker.take(), 200, { id, s3Config });
    await worker.done(id, {});
  });
});

describe("Worker channel: results", () => {
  const taken = async (context: TestContext) => {
    const worker = await joined(context);
    const id = await worker.jobs.submit({ prompt: "ping" });
    expectResponse(await worker.take(), 200, { id, input: { prompt: "ping" } });
    expectResponse(await worker.jobs.status(id), 200, { status: "IN_PROGRESS" });
    return { worker, id };
  };

  test("GET job-take returns id and input, and the job is IN_PROGRESS; POST job-done {output} completes it with that output", async (context) => {
    const { worker, id } = await taken(context);
    expectResponse(await worker.done(id, { output: { text: "pong & more = ü%" } }), 200);
    expectResponse(await worker.jobs.status(id), 200, { status: "COMPLETED", output: { text: "pong & more = ü%" } });
  });

  test("POST job-done without output completes the job", async (context) => {
    const { worker, id } = await taken(context);
    expectResponse(await worker.done(id, {}), 200);
    expectResponse(await worker.jobs.status(id), 200, { status: "COMPLETED" });
  });

  test("POST job-done {error} fails the job with that error", async (context) => {
    const { worker, id } = await taken(context);
    expectResponse(await worker.done(id, { error: JSON.stringify({ error_message: "no such model" }) }), 200);
    const response = await worker.jobs.status(id);
    expectResponse(response, 200, { status: "FAILED" });
    expect(JSON.stringify(at(response.json, "error"))).toContain("no such model");
  });

  test("POST job-done {status: IN_PROGRESS, output} is progress: visible in /status, and the job continues", async (context) => {
    const { worker, id } = await taken(context);
    expectResponse(await worker.done(id, { status: "IN_PROGRESS", output: "half-way" }), 200);
    expectResponse(await worker.jobs.status(id), 200, { status: "IN_PROGRESS", output: "half-way" });
    await worker.done(id, { output: "whole" });
    expectResponse(await worker.jobs.status(id), 200, { status: "COMPLETED", output: "whole" });
  });

  test("POST job-stream adds a chunk to /stream", async (context) => {
    const { worker, id } = await taken(context);
    expectResponse(await worker.stream(id, { output: { text: ["a"] } }), 200);
    const response = await worker.jobs.call("GET", `/stream/${id}`);
    expect(response.json).toMatchObject([{ output: { text: ["a"] } }]);
    await worker.done(id, {});
  });

  test("GET job-stop names a cancelled job", async (context) => {
    const { worker, id } = await taken(context);
    await worker.jobs.cancel(id);
    const response = await pollUntil(worker.stop, ({ status }) => status !== 204);
    expectResponse(response, 200, { jobsToStop: [id] });
    await worker.done(id, {});
  });

  test("POST job-done of a cancelled job leaves it CANCELLED", async (context) => {
    const { worker, id } = await taken(context);
    await worker.jobs.cancel(id);
    await worker.done(id, { output: "too late" });
    const response = await worker.jobs.status(id);
    expectResponse(response, 200, { status: "CANCELLED" });
    expect(response.text).not.toContain("too late");
  });

  test("a worker that stops pinging is lost, and its job is requeued and counted as retried", async (context) => {
    const { worker, id } = await taken(context);
    expectResponse(await worker.ping(id), 200);
    const stateLater = async (): Promise<unknown> => {
      await target.advance(10_000, context);
      return at((await worker.jobs.status(id)).json, "status");
    };
    await expect.poll(stateLater, { interval: 50 }).toBe("IN_QUEUE");
    expect(await worker.jobs.health()).toMatchObject({ jobs: { retried: 1 } });
    expectResponse(await worker.take(), 200, { id, input: { prompt: "ping" } });
    await worker.done(id, {});
  });
});

describe("Worker channel: authentication", () => {
  test("a wrong token returns 401 and delivers no job", async (context) => {
    const worker = await joined(context);
    const id = await worker.jobs.submit({});
    for (const authorization of ["", "wrong", `${worker.token}x`]) {
      expectResponse(await send("GET", worker.takeUrl, { headers: { authorization } }), 401);
    }
    expectResponse(await worker.jobs.status(id), 200, { status: "IN_QUEUE" });
    await worker.jobs.cancel(id);
  });

  test("a worker's token is not the API key and is rejected by the user's APIs", async (context) => {
    const worker = await joined(context);
    expect(worker.token).not.toBe(target.apiKey);
    expectResponse(await send("GET", `${target.baseUrl}/endpoints`, { key: worker.token }), 401);
    expectResponse(await send("GET", `${worker.jobs.root}/health`, { headers: { authorization: worker.token } }), 401);
    const query = { json: { query: "{ myself { id } }" } };
    expectResponse(await send("POST", `${target.graphqlUrl}?api_key=${worker.token}`, query), 401);
  });

  test("a worker's token is rejected by other endpoints", async (context) => {
    const worker = await joined(context);
    const other = await account.parked();
    await other.submit({});
    const url = worker.takeUrl.replaceAll(worker.jobs.id, other.id);
    expectResponse(await send("GET", url, { headers: { authorization: worker.token } }), 401);
  });
});
