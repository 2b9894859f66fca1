import { type JobRecord, systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { apiKey, clientsAt, startRig } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";
import { serve } from "../../support/loopback";

const queued = { id: "job-1", status: "IN_QUEUE" };
const running = { id: "job-1", status: "IN_PROGRESS" };
const completed = { id: "job-1", status: "COMPLETED", output: [1, 2] };

/** Starts a service whose /status and /stream return these bodies in order; the last one repeats. */
function startService(statuses: unknown[], streams: unknown[] = [[]], settings = {}) {
  const next = (bodies: unknown[]) => json(bodies.length > 1 ? bodies.shift() : bodies[0]);
  return startRig(({ url }) => next(url.includes("/stream/") ? streams : statuses), settings);
}

/** Collects the outputs of a stream and its error. */
async function collect(stream: AsyncIterable<unknown>): Promise<{ outputs: unknown[]; error?: unknown }> {
  const outputs: unknown[] = [];
  try {
    for await (const output of stream) outputs.push(output);
    return { outputs };
  } catch (error) {
    return { outputs, error };
  }
}

/** Collects the outputs of a stream. */
async function collectAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const { outputs, error } = await collect(stream);
  if (error !== undefined) throw error;
  return outputs;
}

describe.each(["waitForJob", "streamJob"] as const)("%s", (name) => {
  const failures: [string, Behaviour, code: string][] = [
    ["ends connections", { action: "hang up" }, "connection_lost"],
    ["responds with 503", json({ message: "starting" }, 503), "unavailable"],
  ];

  /** Waits for a job of a service that fails from the second request until a time, ms. */
  async function startWait(failure: Behaviour, end: number) {
    const rig = await startRig(({ url }, count) => {
      if (count > 1 && rig.clock.now() < start + end) return failure;
      return json(url.includes("/stream/") ? [] : count === 1 ? running : completed);
    });
    const start = rig.clock.now();
    const { jobs } = rig.clients;
    const wait: Promise<unknown> =
      name === "waitForJob" ? jobs.waitForJob("ep", "job-1") : collectAll(jobs.streamJob("ep", "job-1"));
    return { ...rig, wait, elapsed: () => rig.clock.now() - start };
  }

  test.each(failures)("continues after a service that %s for 25 s", async (_how, failure) => {
    const { result, wait } = await startWait(failure, 25_000);
    await expect(result(wait)).resolves.toMatchObject(name === "waitForJob" ? completed : []);
  });

  test.each(failures)("rejects if a service %s for more than 30 s", async (_how, failure, code) => {
    const { failure: failed, wait, elapsed } = await startWait(failure, Number.POSITIVE_INFINITY);
    expect(await failed(wait)).toMatchObject({ code });
    expect(elapsed()).toBeGreaterThanOrEqual(30_000);
    expect(elapsed()).toBeLessThan(60_000);
  });
});

describe("waitForJob", () => {
  test.each(["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"])(
    "resolves with the record of a job that is %s and reports each state",
    async (status) => {
      const { clients, result, requests } = await startService([queued, running, { ...running, status }]);
      const states: string[] = [];
      const onProgress = (job: JobRecord) => void states.push(job.status);
      expect(await result(clients.jobs.waitForJob("ep", "job-1", { onProgress }))).toMatchObject({ status });
      expect(states).toEqual(["IN_QUEUE", "IN_PROGRESS", status]);
      expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(3).fill("GET /v2/ep/status/job-1"));
    },
  );

  test("polls 4 times a second at first, and every 2 s for a long job", async () => {
    const { clients, clock, result } = await startService([...Array(150).fill(running), completed]);
    const start = clock.now();
    const times: number[] = [];
    await result(clients.jobs.waitForJob("ep", "job-1", { onProgress: () => void times.push(clock.now() - start) }));
    const intervals = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(intervals.slice(0, 20)).toEqual(Array(20).fill(250));
    expect(intervals.at(-1)).toBe(2000);
    expect(intervals).toEqual([...intervals].sort((a, b) => a - b));
  });

  test("rejects with the reason of its signal", async () => {
    const { clients } = await startService([running], [[]], { clock: systemClock });
    const controller = new AbortController();
    const reason = new Error("stopped by the caller");
    const call = clients.jobs.waitForJob("ep", "job-1", {
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    await expect(call).rejects.toBe(reason);
  });

  test("returns a number of the output that JavaScript cannot represent as text", async () => {
    const { clients } = await startRig([
      { action: "respond", status: 200, body: '{"id":"job-1","status":"COMPLETED","output":12345678901234567890}' },
    ]);
    expect((await clients.jobs.waitForJob("ep", "job-1")).output).toBe("12345678901234567890");
  });
});

describe("streamJob", () => {
  const chunk = (output: unknown) => ({ output, metrics: { stream_index: 0 } });

  test.each<[string, (chunks: unknown[]) => unknown]>([
    ["the bare array", (chunks) => chunks],
    ["the envelope of the SDKs", (chunks) => ({ status: "IN_PROGRESS", stream: chunks })],
  ])("iterates over the outputs in order until the job is over, from %s", async (_form, body) => {
    const reads = [[chunk(1), chunk("two")], [], [chunk({ three: 3 })], []].map((chunks) => body(chunks));
    const { clients, result } = await startService([running, completed], reads);
    expect(await result(collect(clients.jobs.streamJob("ep", "job-1")))).toEqual({ outputs: [1, "two", { three: 3 }] });
  });

  test("returns chunks that arrive between the last empty response and the end of the job", async () => {
    const { clients, result } = await startService([completed], [[], [chunk("late")], []]);
    expect(await result(collect(clients.jobs.streamJob("ep", "job-1")))).toEqual({ outputs: ["late"] });
  });

  test("sends at most 4 requests a second for a job without new chunks", async () => {
    const { clients, clock, result, requests } = await startService([...Array(8).fill(queued), completed]);
    const start = clock.now();
    await result(collect(clients.jobs.streamJob("ep", "job-1")));
    expect(requests.filter(({ url }) => url === "/v2/ep/stream/job-1")).toHaveLength(10);
    expect(clock.now() - start).toBe(2000);
  });

  test.each<[string, object, string]>([
    ["FAILED", { error: "CUDA out of memory" }, "job job-1 FAILED: CUDA out of memory"],
    ["FAILED", { error: { code: 7 } }, 'job job-1 FAILED: {"code":7}'],
    ["FAILED", { error: "rejected token tok_1234567890" }, "job job-1 FAILED: rejected token [secret]"],
    ["FAILED", { error: `401 for Bearer ${apiKey}` }, "job job-1 FAILED: 401 for Bearer [secret]"],
    ["FAILED", { error: null }, "job job-1 FAILED"],
    ["TIMED_OUT", {}, "job job-1 TIMED_OUT"],
    ["CANCELLED", { error: "" }, "job job-1 CANCELLED"],
  ])("ends with a JobFailed after the outputs of a job that is %s with %j", async (status, facts, message) => {
    const { clients, result } = await startService([{ ...running, status, ...facts }], [[chunk(1)], []]);
    const stream = clients.jobs.streamJob("ep", "job-1", { secrets: ["tok_1234567890"] });
    expect(await result(collect(stream))).toEqual({
      outputs: [1],
      error: expect.objectContaining({
        name: "JobFailed",
        jobId: "job-1",
        status,
        message,
      }),
    });
  });

  test("waits for a response that the service holds longer than the timeout of an attempt", async () => {
    const origin = await serve(({ url }, response) => {
      if (url?.includes("/stream/")) setTimeout(() => response.end("[]"), 150);
      else response.end(JSON.stringify(completed));
    });
    const { clients, result } = clientsAt(origin, { attemptTimeout: 50 });
    expect(await result(collect(clients.jobs.streamJob("ep", "job-1")))).toEqual({ outputs: [] });
  });

  test("ends with the reason of its signal", async () => {
    const { clients } = await startService([running], [[chunk(1)], []], { clock: systemClock });
    const controller = new AbortController();
    const stream = clients.jobs.streamJob("ep", "job-1", { signal: controller.signal });
    const outputs: unknown[] = [];
    const reason = new Error("stopped by the caller");
    const reading = (async () => {
      for await (const output of stream) {
        outputs.push(output);
        controller.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(outputs).toEqual([1]);
  });

  test("sends no further request after the caller leaves the loop", async () => {
    const { clients, requests } = await startService([running], [[chunk(1), chunk(2)]]);
    for await (const output of clients.jobs.streamJob("ep", "job-1")) {
      expect(output).toBe(1);
      break;
    }
    expect(requests).toHaveLength(1);
  });

  test("returns a number that JavaScript cannot represent as text", async () => {
    const { clients, result } = await startRig(({ url }, count) => {
      if (url.includes("/status/")) return json(completed);
      return { action: "respond", status: 200, body: count === 1 ? '[{"output":12345678901234567890}]' : "[]" };
    });
    expect(await result(collect(clients.jobs.streamJob("ep", "job-1")))).toEqual({ outputs: ["12345678901234567890"] });
  });
});
