import type { Clients } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";

const job = { id: "job-1", status: "IN_QUEUE" };

test("each operation sends the request of the interface", async () => {
  const { clients, requests } = await startRig(({ url }) => {
    if (url.endsWith("/purge-queue")) return json({ removed: 3, status: "completed" });
    if (url.endsWith("/health")) return json({ jobs: { completed: 1 }, workers: { idle: 2, throttled: 1 } });
    return json(job);
  });
  const { jobs } = clients;
  await jobs.run("ep", { input: { a: 1 }, policy: { ttl: 20_000 } });
  await jobs.runsync("ep", { input: {} });
  await jobs.runsync("ep", { input: {} }, { wait: 1000 });
  await jobs.status("ep", "job-1");
  await jobs.cancel("ep", "job-1");
  await jobs.retry("ep", "job-1");
  expect(await jobs.purgeQueue("ep")).toBe(3);
  expect(await jobs.health("ep")).toMatchObject({
    jobs: { completed: 1, failed: 0, inQueue: 0 },
    workers: { idle: 2, running: 0, throttled: 1 },
  });
  expect(requests.map(({ method, url, body }) => `${method} ${url} ${body}`.trim())).toEqual([
    'POST /v2/ep/run {"input":{"a":1},"policy":{"ttl":20000}}',
    'POST /v2/ep/runsync {"input":{}}',
    'POST /v2/ep/runsync?wait=1000 {"input":{}}',
    "GET /v2/ep/status/job-1",
    "POST /v2/ep/cancel/job-1 {}",
    "POST /v2/ep/retry/job-1 {}",
    "POST /v2/ep/purge-queue {}",
    "GET /v2/ep/health",
  ]);
  for (const { method, headers } of requests) {
    expect(headers["content-type"]).toBe(method === "POST" ? "application/json" : undefined);
  }
});

test("the URL of an endpoint's job API contains its id, which must not be empty", async () => {
  const { clients, origin } = await startRig([json(job)]);
  expect(clients.jobs.url("ep")).toBe(`${origin}/v2/ep`);
  expect(() => clients.jobs.url("")).toThrow("endpoint id");
});

test("a record keeps output, error text and times unchanged", async () => {
  const record = { ...job, status: "FAILED", error: "Traceback …", delayTime: 12, executionTime: 3, workerId: "w" };
  const { clients } = await startRig([json(record)]);
  expect(await clients.jobs.status("ep", "job-1")).toEqual(record);
});

test("null counts as an absent value, in a record and in a stream", async () => {
  const nothing = { delayTime: null, executionTime: null, workerId: null };
  const { clients } = await startRig([json({ ...job, status: "COMPLETED", ...nothing, stream: null })]);
  expect(await clients.jobs.status("ep", "job-1")).toMatchObject({ status: "COMPLETED" });
  for await (const output of clients.jobs.streamJob("ep", "job-1")) expect(output).toBe("no output");
});

test("a byte order mark before the JSON of a response is ignored", async () => {
  const { clients } = await startRig([{ action: "respond", status: 200, body: `\uFEFF${JSON.stringify(job)}` }]);
  expect(await clients.jobs.status("ep", "job-1")).toEqual(job);
});

test("an unknown or expired job is missing", async () => {
  const { clients } = await startRig([json({ error: "job not found" }, 404)]);
  expect(await apiErrorOf(clients.jobs.status("ep", "x"))).toMatchObject({ category: "missing", status: 404 });
});

describe.each(["status", "cancel", "retry"] as const)("a 404 of /%s", (operation) => {
  const missing = json({ error: "job not found" }, 404);
  /** A service that accepts jobs, and responds with 404 to the first `failures` requests of the operation. */
  const startService = (failures: number) => {
    let calls = 0;
    return startRig(({ url }) => (/\/run(sync)?$/.test(url) || ++calls > failures ? json(job) : missing));
  };

  test.each(["run", "runsync"] as const)(
    "is repeated for a new job of /%s, 6 times within about 30 s",
    async (submit) => {
      const { clients, clock, result, requests } = await startService(6);
      await clients.jobs[submit]("ep", { input: {} });
      const start = clock.now();
      expect(await result(clients.jobs[operation]("ep", "job-1"))).toEqual(job);
      expect(requests).toHaveLength(8);
      expect(clock.now() - start).toBe(31_500);
    },
  );

  test("is an error after 7 attempts", async () => {
    const { clients, failure, requests } = await startService(7);
    await clients.jobs.run("ep", { input: {} });
    expect(await failure(clients.jobs[operation]("ep", "job-1"))).toMatchObject({ category: "missing", status: 404 });
    expect(requests).toHaveLength(8);
  });

  test("is repeated only until the caller's limit or timeout", async () => {
    for (const [limit, time] of [
      [{ visibilityLimit: 0 }, 0],
      [{ visibilityLimit: 2000 }, 2000],
      [{ timeout: 3000 }, 1500],
    ] as const) {
      const { clients, clock, failure } = await startService(7);
      await clients.jobs.run("ep", { input: {} });
      const start = clock.now();
      expect(await failure(clients.jobs[operation]("ep", "job-1", limit))).toMatchObject({ category: "missing" });
      expect(clock.now() - start).toBe(time);
    }
  });

  test.each<[string, string, string, number]>([
    ["of another client's job", "ep", "job-2", 0],
    ["of a job with the same id on another endpoint", "other", "job-1", 0],
    ["of a job that was submitted 30 s ago", "ep", "job-1", 30_000],
  ])("%s is an error at once", async (_which, endpointId, jobId, age) => {
    const { clients, clock, requests } = await startService(1);
    await clients.jobs.run("ep", { input: {} });
    await clock.advance(age);
    expect(await apiErrorOf(clients.jobs[operation](endpointId, jobId))).toMatchObject({ category: "missing" });
    expect(requests).toHaveLength(2);
  });
});

test("an unknown status is an error that names it", async () => {
  const { clients } = await startRig([json({ id: "job-1", status: "EXPLODED" })]);
  const error = await apiErrorOf(clients.jobs.status("ep", "job-1"));
  expect(error).toMatchObject({ code: "unexpected_response" });
  expect(error.message).toContain('"status"');
});

test.each([
  ["run", 10 * 1024 * 1024],
  ["runsync", 20 * 1024 * 1024],
] as const)("a payload over the limit of /%s is rejected before any request", async (operation, limit) => {
  const { clients, requests } = await startRig([json(job)]);
  const error = await apiErrorOf(clients.jobs[operation]("ep", { input: { text: "x".repeat(limit) } }));
  expect(error).toMatchObject({ category: "invalid", code: "invalid_argument", ambiguous: false });
  expect(error.message).toContain(String(limit));
  expect(requests).toHaveLength(0);
});

test.each([999, 300_001, 1500.5, Number.NaN])("a wait of %s is rejected before any request", async (wait) => {
  const { clients, requests } = await startRig([json(job)]);
  const error = await apiErrorOf(clients.jobs.runsync("ep", { input: {} }, { wait }));
  expect(error.message).toBe(`wait is ${wait}; must be a whole number of ms from 1000 to 300000`);
  expect(requests).toHaveLength(0);
});

describe.each([Number.NaN, 0, -1, Number.NEGATIVE_INFINITY])("a timeout of %d", (timeout) => {
  type Call = (clients: Clients, options: { timeout: number }) => Promise<unknown>;
  const secret = { name: "s", value: "v" };

  test.each<[string, Call]>([
    ["run", ({ jobs }, options) => jobs.run("ep", { input: {} }, options)],
    ["runsync", ({ jobs }, options) => jobs.runsync("ep", { input: {} }, options)],
    ["status", ({ jobs }, options) => jobs.status("ep", "job-1", options)],
    ["cancel", ({ jobs }, options) => jobs.cancel("ep", "job-1", options)],
    ["retry", ({ jobs }, options) => jobs.retry("ep", "job-1", options)],
    ["purgeQueue", ({ jobs }, options) => jobs.purgeQueue("ep", options)],
    ["health", ({ jobs }, options) => jobs.health("ep", options)],
    ["listEndpoints", ({ management }, options) => management.listEndpoints(options)],
    ["readEndpoint", ({ management }, options) => management.readEndpoint("ep", options)],
    ["createSecret", ({ management }, options) => management.createSecret(secret, options)],
    [
      "a request",
      ({ requests }, options) => requests.send("http://127.0.0.1:9", { method: "GET", path: "/" }, options),
    ],
  ])("of %s is rejected before any request", async (_call, call) => {
    const { clients, requests } = await startRig([json(job)]);
    const error = await apiErrorOf(call(clients, { timeout }));
    expect(error).toMatchObject({
      code: "invalid_argument",
      message: `timeout is ${timeout}; must be a number of at least 1`,
    });
    expect(requests).toHaveLength(0);
  });
});

test.each(["status", "cancel", "retry"] as const)("a visibilityLimit of NaN of %s is rejected", async (operation) => {
  const { clients, requests } = await startRig([json(job)]);
  const error = await apiErrorOf(clients.jobs[operation]("ep", "job-1", { visibilityLimit: Number.NaN }));
  expect(error.message).toBe("visibilityLimit is NaN; must be a number of ms");
  expect(requests).toHaveLength(0);
});

test.each(["", ".."])("the job id %j is rejected before any request", async (id) => {
  const { clients, requests } = await startRig([json(job)]);
  expect(await apiErrorOf(clients.jobs.cancel("ep", id))).toMatchObject({ code: "invalid_argument" });
  expect(await apiErrorOf(clients.jobs.status(id, "job-1"))).toMatchObject({ code: "invalid_argument" });
  expect(requests).toHaveLength(0);
});

test("a submission that is not JSON is rejected before a request", async () => {
  const { clients, requests } = await startRig(() => json(job));
  const circular: { [key: string]: unknown } = {};
  circular["self"] = circular;
  for (const input of [circular, { count: 1n }])
    for (const operation of ["run", "runsync"] as const)
      expect(await apiErrorOf(clients.jobs[operation]("ep", { input }))).toMatchObject({
        code: "invalid_argument",
        message: expect.stringContaining("the job's payload is not JSON: "),
      });
  expect(requests).toEqual([]);
});

test("a job's record keeps fields that the service adds, such as the id of its batch", async () => {
  const { clients } = await startRig(() => json({ ...job, status: "COMPLETED", output: 1, batchId: "batch-1" }));
  expect(await clients.jobs.status("ep", "job-1")).toMatchObject({ output: 1, batchId: "batch-1" });
});
