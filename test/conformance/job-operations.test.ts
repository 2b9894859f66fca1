import { describe, expect, test } from "vitest";
import { at, expectResponse, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { longJob, runLongJob, secondsUntil } from "./support/long-job";
import { joinAsWorker } from "./support/raw-worker";

const target = await useTarget();
const account = useAccount(target);

describe("Job operations: /runsync and /run", () => {
  test("POST /runsync returns id, status, delayTime, executionTime and output", async (context) => {
    const jobs = await account.jobsOf("echo", context);
    const response = await jobs.runsync({ prompt: "ping", deep: { list: [1, null, "ü"] } });
    expectResponse(response, 200, {
      status: "COMPLETED",
      output: { prompt: "ping", deep: { list: [1, null, "ü"] } },
    });
    expect(stringAt(response, "id")).toMatch(/^sync-/);
    for (const time of ["delayTime", "executionTime"]) {
      expect(Number.isInteger(at(response.json, time)), `${time} in ${response.text}`).toBe(true);
      expect(Number(at(response.json, time))).toBeGreaterThanOrEqual(0);
    }
  });

  test("POST /runsync?wait= returns the current record when the wait ends, and the job continues", async (context) => {
    const jobs = await account.jobsOf("slow", context);
    await jobs.runsync({});
    const { input, end } = longJob(target, context);
    target.freezeClock(context);
    const { response, seconds } = await secondsUntil(target, context, jobs.runsync(input, 5000), jobs);
    expectResponse(response, 200, { status: "IN_PROGRESS" });
    expect(seconds).toBeGreaterThanOrEqual(5);
    expect(at(response.json, "output")).toBeUndefined();
    end();
    await jobs.reaches(stringAt(response, "id"), "COMPLETED");
  });

  test.each([1000, 300000])("POST /runsync?wait=%i is within the bounds", async (wait) => {
    const jobs = await account.parked();
    const asked = jobs.runsync({}, wait);
    await expect.poll(async () => (await jobs.health()).jobs["inQueue"]).toBe(1);
    await jobs.call("POST", "/purge-queue");
    expectResponse(await asked, [200, 404]);
  });

  test.each(["999", "300001", "-1", "0", "1500.5", "soon", ""])(
    "POST /runsync?wait=%s returns 400 and names wait",
    async (wait) => {
      const jobs = await account.parked();
      const response = await jobs.runsync({}, wait);
      expectResponse(response, 400);
      expect(response.text).toContain("wait");
      expect(await jobs.health()).toMatchObject({ jobs: { inQueue: 0 } });
    },
  );

  test("POST /run returns id and status IN_QUEUE immediately", async (context) => {
    const jobs = await account.jobsOf("slow", context);
    const response = await jobs.run({ ms: 120_000 });
    expectResponse(response, 200, { status: "IN_QUEUE" });
    expectResponse(await jobs.cancel(stringAt(response, "id")), 200);
    expect(stringAt(response, "id")).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}/);
    expect(at(response.json, "output")).toBeUndefined();
  });

  test("a worker receives the jobs of its endpoint in order of submission", async (context) => {
    const worker = await joinAsWorker(target, account, context);
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await worker.jobs.submit({ n }));
    const taken: string[] = [];
    for (const _ of ids) {
      const id = stringAt(await worker.take(), "id");
      taken.push(id);
      expectResponse(await worker.done(id, { output: null }), 200);
    }
    expect(taken).toEqual(ids);
  });
});

describe("Job operations: /status", () => {
  test("GET /status/{job_id} returns id, status, delayTime, executionTime and output of a completed job", async (context) => {
    const jobs = await account.jobsOf("slow", context);
    const { id, end } = await runLongJob(target, context, jobs);
    await target.advance(5000, context);
    end();
    const record = await jobs.reaches(id, "COMPLETED");
    expect(record).toMatchObject({ id, status: "COMPLETED", output: { slept: 0 } });
    // The unit is milliseconds: the job runs for at least 5 s, and not for 5000 s.
    expect(record["executionTime"]).toBeGreaterThanOrEqual(5000);
    expect(record["executionTime"]).toBeLessThan(5_000_000);
    expect(Number.isInteger(record["delayTime"])).toBe(true);
  });

  test("GET /status/{job_id} of a queued job returns IN_QUEUE without output", async () => {
    const jobs = await account.parked();
    const id = await jobs.submit({});
    const response = await jobs.status(id);
    expectResponse(response, 200, { id, status: "IN_QUEUE" });
    expect(response.json).not.toHaveProperty("output");
  });

  test("GET /status/{job_id}?ttl= sets the job's time to live", { tags: ["reading:status-ttl"] }, async (context) => {
    const jobs = await account.parked();
    const id = await jobs.submit({});
    expectResponse(await jobs.call("GET", `/status/${id}?ttl=10000`), 200, { id, status: "IN_QUEUE" });
    await target.advance(11_000, context);
    await expect.poll(async () => (await jobs.status(id)).status).toBe(404);
  });

  test("GET /status/{job_id}?ttl= in the past returns the job once more, then 404", {
    tags: ["reading:status-ttl"],
  }, async (context) => {
    const jobs = await account.parked();
    const id = await jobs.submit({});
    await target.advance(11_000, context);
    expectResponse(await jobs.call("GET", `/status/${id}?ttl=10000`), 200, { id, status: "IN_QUEUE" });
    expectResponse(await jobs.status(id), 404);
  });

  test("GET /status/{job_id}?ttl= does not lengthen the retention of a result", {
    tags: ["reading:status-ttl"],
  }, async (context) => {
    const jobs = await account.jobsOf("echo", context);
    const id = await jobs.submit({});
    await jobs.reaches(id, "COMPLETED");
    expectResponse(await jobs.call("GET", `/status/${id}?ttl=604800000`), 200, { id });
    await target.advance(31 * 60_000, context);
    await expect.poll(async () => (await jobs.status(id)).status).toBe(404);
  });

  test.each(["9999", "604800001", "-1", "1.5", "soon"])(
    "GET /status/{job_id}?ttl=%s returns 400 and names ttl",
    { tags: ["reading:status-ttl"] },
    async (ttl) => {
      const jobs = await account.parked();
      const id = await jobs.submit({});
      const response = await jobs.call("GET", `/status/${id}?ttl=${ttl}`);
      expectResponse(response, 400);
      expect(response.text).toContain("ttl");
    },
  );

  test("GET /status-sync/{job_id}?wait= waits for the job like /runsync", async (context) => {
    const jobs = await account.jobsOf("slow", context);
    const id = await jobs.submit({ ms: 200 });
    expectResponse(await jobs.call("GET", `/status-sync/${id}?wait=20000`), 200, { id, status: "COMPLETED" });
  });
});

describe("Job operations: /openai/* and /requests", () => {
  test("POST /openai/* with stream: true returns the output of a handler that yields nothing as one event", {
    tags: ["reading:openai"],
  }, async (context) => {
    const jobs = await account.jobsOf("echo", context);
    const response = await jobs.call("POST", "/openai/v1/chat/completions", { model: "acme", stream: true });
    expectResponse(response, 200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.text).toMatch(/^data: \{.*"model":"acme".*\}\n\ndata: \[DONE\]\n\n$/);
  });

  test.for([true, false])(
    "POST /openai/* with stream: %j of a job that fails returns 500 in OpenAI's form",
    {
      tags: ["reading:openai"],
    },
    async (stream, context) => {
      const jobs = await account.jobsOf("fail", context);
      const response = await jobs.call("POST", "/openai/v1/completions", { stream });
      expectResponse(response, 500);
      expect(at(response.json, "error"), response.text).toMatchObject({ type: "server_error", code: "job_failed" });
      expect(stringAt(response, "error", "message")).not.toBe("");
    },
  );

  test.each([
    ["a wrong key", 401, "invalid_api_key", "nosuchkey", "{}"],
    ["a body that is not JSON", 400, "invalid_request", target.apiKey, "{model:"],
    ["a body that is a list", 400, "invalid_request", target.apiKey, "[1]"],
  ])(
    "POST /openai/* with %s returns %i in OpenAI's form",
    {
      tags: ["reading:openai"],
    },
    async (_what, status, code, key, text) => {
      const jobs = await account.parked();
      const response = await send("POST", `${jobs.root}/openai/v1/completions`, { key, text });
      expectResponse(response, status);
      expect(at(response.json, "error"), response.text).toMatchObject({ code, message: expect.any(String) });
    },
  );

  test("POST /openai/* becomes a job and returns its output", async (context) => {
    const jobs = await account.jobsOf("echo", context);
    const body = { model: "acme", messages: [{ role: "user", content: "ping" }] };
    const response = await jobs.call("POST", "/openai/v1/chat/completions", body);
    expectResponse(response, 200, { openai_route: "/v1/chat/completions", openai_input: body });
  });

  test("POST /openai/* with stream: true returns the chunks as server-sent events", async (context) => {
    const jobs = await account.jobsOf("stream", context);
    const response = await send("POST", `${jobs.root}/openai/v1/chat/completions`, {
      key: target.apiKey,
      json: { model: "acme", stream: true, chunks: ["first", "second"] },
    });
    expectResponse(response, 200);
    const events = [...response.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data);
    expect(events, response.text).toEqual(['"first"', '"second"', "[DONE]"]);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
  });

  test("GET /requests returns the endpoint's jobs", async () => {
    const jobs = await account.parked();
    const ids = [await jobs.submit({}), await jobs.submit({})];
    await (await account.parked()).submit({});
    const response = await jobs.call("GET", "/requests");
    expectResponse(response, 200);
    const listed = Object(at(response.json, "requests"));
    expect(Array.from(listed, (job) => at(job, "id")).sort(), response.text).toEqual(ids.sort());
  });
});
