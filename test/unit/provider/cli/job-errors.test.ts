import { noResponse } from "serverless-compute-api";
import { type JobService, runJob } from "serverless-compute-api/job-commands";
import { expect, onTestFinished, test } from "vitest";
import { type Behaviour, json, startFaultyServer } from "../../../support/faulty-server";
import { ManualClock } from "../../../support/manual-clock";
import { setEnvironment } from "./job-service";
import { command, recordingTerminal } from "./terminal";

const request = { method: "GET", url: "http://127.0.0.1/v2/ep1/status/j1" };

const endpoint = { id: "ep1", name: "chat", workers: {}, scaling: { type: "QUEUE_DELAY", queueDelay: 4 } };

test("jobs prints the message of an SDK's error without its traceback", async () => {
  const error = JSON.stringify({ error_type: "<class 'ValueError'>", error_message: "no model", error_traceback: "x" });
  const { origin, close } = await startFaultyServer(({ url }) =>
    url.startsWith("/v2/serverless")
      ? json({ endpoints: [endpoint] })
      : json({ requests: [{ id: "j1", status: "FAILED", executionTime: 7, error }] }),
  );
  onTestFinished(close);
  setEnvironment({ SERVERLESS_COMPUTE_API_KEY: "k".repeat(32), SERVERLESS_COMPUTE_URL: origin });
  const { out } = await command(["jobs", "chat"]);
  expect(out).toMatch(/^j1 +FAILED +7 ms +no model$/m);
});

test.each([
  ["--sync", "rejects the key", json({ message: "invalid key" }, 401), "rejected the API key"],
  ["--stream", "rejects the key", json({ message: "invalid key" }, 401), "rejected the API key"],
  ["--sync", "rejects the request", json({ message: "stopping" }, 400), "stopping"],
  ["--stream", "rejects the request", json({ message: "stopping" }, 400), "stopping"],
])(
  "a wait of run %s that fails names the job, because it continues: the service %s",
  async (flag, _what, response, reason) => {
    const { origin, close } = await startFaultyServer(({ url, method }) => {
      if (url.startsWith("/v2/serverless")) return json({ endpoints: [endpoint] });
      return method === "POST" ? json({ id: "j1", status: "IN_QUEUE" }) : response;
    });
    onTestFinished(close);
    setEnvironment({ SERVERLESS_COMPUTE_API_KEY: "k".repeat(32), SERVERLESS_COMPUTE_URL: origin });
    const { code, out, err } = await command(["run", "chat", "{}", flag]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain('the wait for job j1 failed, and "job j1" prints its record: ');
    expect(err).toContain(reason);
  },
);

test.each(["sync", "stream"] as const)("a wait of run --%s continues after an error that may end", async (flag) => {
  let failures = 0;
  const service: JobService = {
    endpoints: async () => [endpoint],
    async send(method, _endpointId, path) {
      if (method === "GET" && failures++ === 0) throw new Error("for users", { cause: noResponse(1, request, true) });
      const body = path.startsWith("stream/") ? [] : { id: "j1", status: method === "GET" ? "COMPLETED" : "IN_QUEUE" };
      return { status: 200, text: JSON.stringify(body) };
    },
  };
  const { io, printed } = recordingTerminal();
  await runJob(service, "chat", "{}", { sync: flag === "sync", stream: flag === "stream" }, io);
  expect(printed().err).toBe("");
  expect(failures).toBeGreaterThan(1);
});

test("run --stream prints once that the chunks of a requeued job begin again", async () => {
  const clock = new ManualClock();
  const streams: unknown[][] = [[{ output: 1 }], [], [{ output: 1 }, { output: 2 }], [], []];
  const service: JobService = {
    clock,
    endpoints: async () => [endpoint],
    async send(_method, _endpointId, path) {
      const isOver = streams.length < 2;
      const record = { id: "j1", status: isOver ? "COMPLETED" : "IN_PROGRESS", retries: streams.length < 4 ? 1 : 0 };
      return { status: 200, text: JSON.stringify(path.startsWith("stream/") ? (streams.shift() ?? []) : record) };
    },
  };
  const { io, printed } = recordingTerminal();
  let isDone = false;
  const done = runJob(service, "chat", "{}", { sync: false, stream: true }, io).finally(() => {
    isDone = true;
  });
  while (!isDone) await (clock.waiting > 0 ? clock.advance(250) : new Promise((resolve) => setImmediate(resolve)));
  await done;
  expect(printed()).toMatchObject({ out: "1\n1\n2", err: "job j1 was requeued, so its chunks begin again" });
});

test("run --sync reads /health after 5 s in the queue, then every 30 s, and prints a reason once", async () => {
  const clock = new ManualClock();
  const start = clock.now();
  const times: number[] = [];
  const service: JobService = {
    clock,
    endpoints: async () => [endpoint],
    async send(_method, _endpointId, path) {
      if (path !== "health")
        return { status: 200, text: JSON.stringify({ id: "j1", status: times.length < 4 ? "IN_QUEUE" : "COMPLETED" }) };
      times.push(clock.now() - start);
      return { status: 200, text: JSON.stringify({ jobs: {}, workers: {}, message: "no GPU\ndetails" }) };
    },
  };
  const { io, printed } = recordingTerminal();
  let isDone = false;
  const done = runJob(service, "chat", "{}", { sync: true, stream: false }, io).finally(() => {
    isDone = true;
  });
  while (!isDone) await (clock.waiting > 0 ? clock.advance(250) : new Promise((resolve) => setImmediate(resolve)));
  await done;
  expect(times.map((time) => Math.floor(time / 5000) * 5)).toEqual([5, 35, 65, 95]);
  expect(printed().err).toBe("job j1 waits: no GPU");
});

test("run prints the result although its endpoint's /health hangs (--sync) or fails (--stream)", async () => {
  const healthReads = new Set<string>();
  const { origin, close } = await startFaultyServer(({ url, method }) => {
    if (url.startsWith("/v2/serverless"))
      return json({ endpoints: [endpoint, { ...endpoint, id: "ep2", name: "other" }] });
    const id = url.includes("ep1") ? "ep1" : "ep2";
    if (url.includes("/stream/")) return json([]);
    if (!url.includes("/health"))
      return json({ id: "j1", status: healthReads.has(id) && method === "GET" ? "COMPLETED" : "IN_QUEUE", output: 1 });
    healthReads.add(id);
    return id === "ep1" ? { action: "hang" } : json({ message: "not allowed" }, 403);
  });
  onTestFinished(close);
  setEnvironment({ SERVERLESS_COMPUTE_API_KEY: "k".repeat(32), SERVERLESS_COMPUTE_URL: origin });
  // Both at a time, because /health is read after 5 s.
  const results = [command(["run", "chat", "{}", "--sync"]), command(["run", "other", "{}", "--stream"])];
  expect(await Promise.all(results)).toEqual([
    { code: 0, out: '{"id":"j1","status":"COMPLETED","output":1}', err: "" },
    { code: 0, out: "1", err: "" },
  ]);
  expect([...healthReads].sort()).toEqual(["ep1", "ep2"]);
});

const page: Behaviour = { action: "respond", status: 200, body: "<html>" };
const withoutId = json({ status: "IN_QUEUE" });

test.each<[string[], string, Behaviour, string]>([
  [["jobs", "chat"], "/health", page, "response is not valid JSON"],
  [
    ["jobs", "chat"],
    "/health",
    json({ jobs: { inQueue: null }, workers: {} }),
    '"jobs.inQueue" in the response is invalid: expected number, received null',
  ],
  [["cancel", "j1"], "/status/", page, "response is not valid JSON"],
  [["retry", "j1"], "/status/", withoutId, '"id" in the response'],
  [["run", "chat", "{}", "--sync"], "/run", page, "response is not valid JSON"],
  [["run", "chat", "{}", "--stream"], "/run", withoutId, '"id" in the response'],
  [["run", "chat", "{}", "--sync"], "/status/", page, "the wait for job j1 failed"],
])("%j reports an invalid response of %s in one line", async (words, path, response, message) => {
  const { origin, close } = await startFaultyServer(({ url }) => {
    if (url.startsWith("/v2/serverless")) return json({ endpoints: [endpoint] });
    if (url.includes(path)) return response;
    return url.includes("/requests") ? json({}, 404) : json({ id: "j1", status: "IN_QUEUE", stream: [] });
  });
  onTestFinished(close);
  setEnvironment({ SERVERLESS_COMPUTE_API_KEY: "k".repeat(32), SERVERLESS_COMPUTE_URL: origin });
  const { code, err } = await command(words);
  expect(code).toBe(1);
  expect(err).toContain(message);
  expect(err.trimEnd()).not.toContain("\n");
});
