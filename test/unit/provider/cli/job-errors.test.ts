import { noResponse } from "serverless-compute-api";
import { type JobService, runJob } from "serverless-compute-api/job-commands";
import { expect, test } from "vitest";
import { type Behaviour, json } from "../../../support/faulty-server";
import { ManualClock } from "../../../support/manual-clock";
import { chat, useScriptedAccount } from "./job-service";
import { command, recordingTerminal } from "./terminal";

const request = { method: "GET", url: "http://127.0.0.1/v2/ep1/status/j1" };

test("jobs prints the message of an SDK's error without its traceback", async () => {
  const error = JSON.stringify({ error_type: "<class 'ValueError'>", error_message: "no model", error_traceback: "x" });
  await useScriptedAccount(() => json({ requests: [{ id: "j1", status: "FAILED", executionTime: 7, error }] }));
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
    await useScriptedAccount(({ method }) => (method === "POST" ? json({ id: "j1", status: "IN_QUEUE" }) : response));
    const { code, out, err } = await command(["run", "chat", "{}", flag]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain('the wait for job j1 failed, and "job j1" prints its record: ');
    expect(err).toContain(reason);
  },
);

test.each(["sync", "stream"] as const)(
  "a wait of run --%s prints once that it continues after errors that may end",
  async (flag) => {
    const clock = new ManualClock();
    let failures = 0;
    const service: JobService = {
      clock,
      endpoints: async () => [chat],
      async send(method, _endpointId, path) {
        if (method === "GET" && failures++ < 3) throw new Error("for users", { cause: noResponse(1, request, true) });
        const body = path.startsWith("stream/")
          ? []
          : { id: "j1", status: method === "GET" ? "COMPLETED" : "IN_QUEUE" };
        return { status: 200, text: JSON.stringify(body) };
      },
    };
    const { io, printed } = recordingTerminal();
    await clock.advanceUntil(runJob(service, "chat", "{}", { sync: flag === "sync", stream: flag === "stream" }, io));
    expect(printed().err).toBe("the service does not respond; retrying to read job j1 for 30 s");
    expect(failures).toBeGreaterThan(3);
  },
);

const notice = "job j1 was requeued; chunks may be repeated";

test.each([
  ["after its first chunk", [[{ output: 1 }], [], [{ output: 1 }, { output: 2 }], [], []], 3, "1\n1\n2", notice],
  ["between a read without chunks and the first", [[], [{ output: 1 }, { output: 2 }], [], []], 1, "1\n2", notice],
  ["before a read without chunks", [[], [{ output: 1 }, { output: 2 }], [], []], 3, "1\n2", ""],
])("run --stream prints at most once that a job was requeued: %s", async (_when, responses, requeue, out, err) => {
  const clock = new ManualClock();
  const streams: unknown[][] = [...responses];
  const service: JobService = {
    clock,
    endpoints: async () => [chat],
    async send(_method, _endpointId, path) {
      const isOver = streams.length < 2;
      const record = {
        id: "j1",
        status: isOver ? "COMPLETED" : "IN_PROGRESS",
        retries: streams.length <= requeue ? 1 : 0,
      };
      return { status: 200, text: JSON.stringify(path.startsWith("stream/") ? (streams.shift() ?? []) : record) };
    },
  };
  const { io, printed } = recordingTerminal();
  await clock.advanceUntil(runJob(service, "chat", "{}", { sync: false, stream: true }, io));
  expect(printed()).toMatchObject({ out, err });
});

test.each([
  ["sync", { sync: true, stream: false }],
  ["stream", { sync: false, stream: true }],
])("run --%s reads /health after 5 s in the queue, then every 30 s, and prints a reason once", async (_flag, flags) => {
  const clock = new ManualClock();
  const start = clock.now();
  const times: number[] = [];
  const service: JobService = {
    clock,
    endpoints: async () => [chat],
    async send(_method, _endpointId, path) {
      if (path.startsWith("stream/")) return { status: 200, text: "[]" };
      if (path !== "health")
        return { status: 200, text: JSON.stringify({ id: "j1", status: times.length < 4 ? "IN_QUEUE" : "COMPLETED" }) };
      times.push(clock.now() - start);
      return { status: 200, text: JSON.stringify({ jobs: {}, workers: {}, message: "no GPU\ndetails" }) };
    },
  };
  const { io, printed } = recordingTerminal();
  await clock.advanceUntil(runJob(service, "chat", "{}", flags, io));
  expect(times.map((time) => Math.floor(time / 5000) * 5)).toEqual([5, 35, 65, 95]);
  expect(printed().err).toBe("job j1 waits: no GPU");
});

test.each([
  ["hangs", "--sync", { sync: true, stream: false }, '{"id":"j1","status":"COMPLETED","output":1}'],
  ["hangs", "--stream", { sync: false, stream: true }, "1"],
  ["fails", "--sync", { sync: true, stream: false }, '{"id":"j1","status":"COMPLETED","output":1}'],
  ["fails", "--stream", { sync: false, stream: true }, "1"],
])("although the endpoint's /health %s, run %s prints the result", async (fault, _flag, flags, out) => {
  const clock = new ManualClock();
  const start = clock.now();
  let isHealthRead = false;
  const service: JobService = {
    clock,
    endpoints: async () => [chat],
    async send(method, _endpointId, path, _body, timeout) {
      if (path.startsWith("stream/")) return { status: 200, text: "[]" };
      if (path === "health") {
        isHealthRead = true;
        if (fault === "fails") return { status: 403, text: '{"message":"not allowed"}' };
        await clock.sleep(timeout ?? Number.POSITIVE_INFINITY);
        throw new Error("no response");
      }
      const status = isHealthRead && method === "GET" ? "COMPLETED" : "IN_QUEUE";
      return { status: 200, text: JSON.stringify({ id: "j1", status, output: 1 }) };
    },
  };
  const { io, printed } = recordingTerminal();
  await clock.advanceUntil(runJob(service, "chat", "{}", flags, io));
  expect(clock.now() - start).toBeLessThan(15_000);
  expect(printed()).toEqual({ out, err: "" });
  expect(isHealthRead).toBe(true);
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
  await useScriptedAccount(({ url }) => {
    if (url.includes(path)) return response;
    return url.includes("/requests") ? json({}, 404) : json({ id: "j1", status: "IN_QUEUE", stream: [] });
  });
  const { code, err } = await command(words);
  expect(code).toBe(1);
  expect(err).toContain(message);
  expect(err.trimEnd()).not.toContain("\n");
});
