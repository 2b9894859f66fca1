import { describe, expect, test } from "vitest";
import type { JobApi } from "../support/job-api";
import { at, expectResponse, type RawResponse, send } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { secondsUntil } from "./support/long-job";
import { joinAsWorker } from "./support/raw-worker";

const target = await useTarget();
const account = useAccount(target);
const elements = (response: RawResponse): unknown[] => (Array.isArray(response.json) ? response.json : []);
const outputs = (response: RawResponse): unknown[] => elements(response).map((element) => at(element, "output"));

/** Calls /stream until all chunks have arrived. Returns the outputs of each call. */
async function readAll(jobs: JobApi, id: string, count: number): Promise<unknown[]> {
  const read: unknown[] = [];
  for (let calls = 0; read.length < count && calls < 50; calls += 1) {
    const response = await jobs.call("GET", `/stream/${id}`);
    expectResponse(response, 200);
    read.push(...outputs(response));
  }
  return read;
}

describe("Job operations: /stream", () => {
  test("GET /stream/{job_id} returns a bare array of chunks with output and metrics, and an empty array once all are read", async (context) => {
    const jobs = await account.jobsOf("stream", context);
    const id = await jobs.submit({ chunks: [{ text: ["a"] }] });
    await jobs.reaches(id, "COMPLETED");
    const response = await jobs.call("GET", `/stream/${id}`);
    expectResponse(response, 200);
    expect(elements(response)[0], response.text).toMatchObject({ output: { text: ["a"] } });
    expect(at(elements(response)[0], "metrics"), response.text).toBeInstanceOf(Object);
    // With a stopped clock, a held call would not return.
    target.freezeClock(context);
    expect((await jobs.call("GET", `/stream/${id}`)).json).toEqual([]);
  });

  test("repeated calls of GET /stream/{job_id} return all chunks in order and only once", async (context) => {
    const jobs = await account.jobsOf("stream", context);
    const chunks = Array.from({ length: 12 }, (_, n) => ({ n }));
    const id = await jobs.submit({ chunks, pause: 15 });
    expect(await readAll(jobs, id, chunks.length)).toEqual(chunks);
  });

  test("GET /stream/{job_id} without new chunks waits until a chunk arrives", async (context) => {
    const worker = await joinAsWorker(target, account, context);
    const id = await worker.jobs.submit({});
    await worker.take();
    let hasReturned = false;
    const pending = worker.jobs.call("GET", `/stream/${id}`).finally(() => {
      hasReturned = true;
    });
    for (let requests = 0; requests < 5; requests++) await worker.jobs.status(id);
    expect(hasReturned, "although later requests have returned").toBe(false);
    await worker.stream(id, { output: "late" });
    expect(outputs(await pending)).toEqual(["late"]);
    await worker.done(id, {});
  });

  test("GET /stream/{job_id} without new chunks waits for about 10 s and returns an empty array", async (context) => {
    target.localOnly(context, "how long an empty call is held is not part of the interface");
    const jobs = await account.parked();
    const id = await jobs.submit({});
    target.freezeClock(context);
    const { response, seconds } = await secondsUntil(target, context, jobs.call("GET", `/stream/${id}`), jobs);
    expectResponse(response, 200);
    expect(response.json).toEqual([]);
    expect(seconds).toBeGreaterThanOrEqual(9);
    expect(seconds).toBeLessThan(60);
  });
});

describe("Limits: payload and timing", () => {
  test("Single streamed chunk: at most 1 MB; larger output is split into several chunks", async (context) => {
    const jobs = await account.jobsOf("stream", context);
    const size = 2_500_000;
    const id = await jobs.submit({ size, chunks: ["end"] });
    const read: string[] = [];
    for (let calls = 0; read.at(-1) !== "end" && calls < 30; calls += 1) {
      const response = await jobs.call("GET", `/stream/${id}`);
      expectResponse(response, 200);
      for (const element of elements(response)) {
        expect(Buffer.byteLength(JSON.stringify(element))).toBeLessThanOrEqual(1024 * 1024);
      }
      read.push(...outputs(response).map(String));
    }
    expect(read.length).toBeGreaterThanOrEqual(4);
    expect(
      read.join("") === `${"x".repeat(size)}end`,
      `the parts join to the whole, ${read.map((part) => part.length)}`,
    ).toBe(true);
  });
});

test("GET /stream/{job_id} returns {status, stream} to the public SDKs and MCP server, which cannot read the array", async (context) => {
  target.localOnly(context, "the hosted service may not tell clients apart");
  const jobs = await account.jobsOf("stream", context);
  const id = await jobs.submit({ chunks: ["one"] });
  await jobs.reaches(id, "COMPLETED");
  for (const agent of ["RunPod-JS-SDK/1.1.2", "RunPod-Python-SDK/1.12.0(Linux; x86_64)", "runpod-mcp-server/3.4.0"]) {
    const sending = { key: target.apiKey, headers: { "user-agent": agent } };
    const response = await send("GET", `${jobs.root}/stream/${id}`, sending);
    expectResponse(response, 200, { status: "COMPLETED", stream: expect.any(Array) });
  }
  const python = ["python-requests/2.32.3", "Python/3.11 aiohttp/3.10.5"];
  for (const agent of python) {
    const sdk = { key: target.apiKey, headers: { "user-agent": agent, "content-type": "application/json" } };
    expectResponse(await send("GET", `${jobs.root}/stream/${id}`, sdk), 200, { status: "COMPLETED" });
    const plain = { key: target.apiKey, headers: { "user-agent": agent } };
    expect((await send("GET", `${jobs.root}/stream/${id}`, plain)).json).toEqual([]);
  }
  const other = { key: target.apiKey, headers: { "user-agent": "curl/8.5.0 RunPod-JS-SDK/1.1.2" } };
  expect((await send("GET", `${jobs.root}/stream/${id}`, other)).json).toEqual([]);
});
