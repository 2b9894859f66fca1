import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { readStore } from "../../../../service/store/database";
import { scratchFolder } from "../../../support/folders";
import type { JobApi } from "../../../support/job-api";
import { apiKey, type LocalService, useLocalService, useSharedService } from "../../../support/local-service";
import { ManualClock } from "../../../support/manual-clock";
import { isPending } from "../../../support/pending";
import { at } from "../../../support/raw-http";

const images = { llm: join(__dirname, "support", "llm.mjs") };
const key = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
const path = "/openai/v1/completions";
const rig = await useSharedService({ images });
const clock = new ManualClock();
const timed = await useSharedService({ images, clock });
const llm = await rig.jobsOn("llm");

/** Opens a call; `text` reads the remaining response. */
async function open({ root }: Pick<LocalService, "root">, jobs: JobApi, body: object, signal?: AbortSignal) {
  const response = await fetch(`${root}/v2/${jobs.id}${path}`, {
    method: "POST",
    headers: key,
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async (): Promise<string> => (await reader?.read())?.value ?? "";
  const text = async (): Promise<string> => {
    let all = "";
    for (let part = await next(); part !== ""; part = await next()) all += part;
    return all;
  };
  return { response, next, text };
}
const openStream = (jobs: JobApi, body: object) => open(rig, jobs, { stream: true, ...body });
const errorEvent = (text: string): unknown =>
  at(JSON.parse(/data: (\{"error".*)\n\n$/.exec(text)?.[1] ?? "{}"), "error");
const job = z.looseObject({ id: z.string(), status: z.string() });
/** The endpoint's newest job, from /requests, which alone lists its id. */
async function newestJob(jobs: JobApi): Promise<z.output<typeof job>> {
  const { json } = await jobs.call("GET", "/requests");
  return job.parse(at(json, "requests", 0));
}
const runs = (jobs: JobApi) => jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 1);
const waits = (jobs: JobApi, count = 1) => jobs.healthBecomes(({ jobs }) => jobs["inQueue"] === count);
const isFree = (jobs: JobApi) => jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 0 && jobs["inQueue"] === 0);
const failure = (type: string, code: string, message: unknown = expect.any(String)) => ({
  message,
  type,
  param: null,
  code,
});

test.each([
  ["GET", "/v1/models", undefined],
  ["GET", "/v1/models/some-model", undefined],
  ["DELETE", "/v1/files/some-file", undefined],
  ["PUT", "/v2/anything", { a: 1 }],
])("%s /openai%s reaches the handler", async (method, route, body) => {
  const response = await llm.call(method, `/openai${route}`, body);
  expect([response.status, response.json]).toEqual([200, { route, body: body ?? {} }]);
});

test.each([
  ["an object that it yields once", [{ object: "list", data: [] }], '{"object":"list","data":[]}'],
  ["the text of the response", ['{"id": 12345678901234567891}'], '{"id": 12345678901234567891}'],
  [
    "the lines of the response",
    ['{"object": "error",', ' "message": "no é"}'],
    '{"object": "error",\n "message": "no é"}',
  ],
  ["the text of a list", ["[1, 2]"], "[1, 2]"],
  ["text that is no JSON", ["{not JSON", "}"], '["{not JSON","}"]'],
  ["a text that is a number", ["5"], '"5"'],
])("a call whose handler returns %s receives JSON", async (_what, yields, expected) => {
  const { response, text } = await open(rig, llm, { yields });
  expect([response.headers.get("content-type"), await text()]).toEqual([
    expect.stringMatching(/^application\/json/),
    expected,
  ]);
});

test("a call whose handler returns a text with JSON receives the JSON", async () => {
  expect(await (await open(rig, llm, { returns: '{"a": 1.0}' })).text()).toBe('{"a": 1.0}');
});

test("a value above 1 MB, which /stream would split, is one event", async () => {
  const word = "é\u0000".repeat(700_000);
  const { text } = await openStream(llm, { words: [word], raw: [`data: ${"y".repeat(1_200_000)}`] });
  expect(await text()).toBe(`data: ${JSON.stringify({ word })}\n\ndata: ${"y".repeat(1_200_000)}\n\ndata: [DONE]\n\n`);
});

test("a stream whose job fails after its first event ends with an error event and without [DONE]", async () => {
  const { response, text } = await openStream(llm, { words: ["a"], ends: "fail" });
  const all = await text();
  expect(response.status).toBe(200);
  expect(all).toMatch(/^data: \{"word":"a"\}\n\n/);
  expect(errorEvent(all)).toEqual(failure("server_error", "job_failed", expect.stringContaining("out of memory")));
  expect(all).not.toContain("[DONE]");
});

test("a stream whose worker is lost ends with an error event, because the next worker would start over", async () => {
  const jobs = await rig.jobsOn("llm");
  const marker = join(scratchFolder(), "crash");
  const { next, text } = await openStream(jobs, { words: ["a"], ends: "crash", marker });
  expect(await next()).toBe('data: {"word":"a"}\n\n');
  // A crash before the service has the first event would only requeue the job.
  await writeFile(marker, "");
  const remaining = await text();
  expect(remaining).toMatch(/^data: \{"error"/);
  expect(errorEvent(remaining)).toEqual(failure("server_error", "job_failed", expect.stringContaining("worker")));
  await isFree(jobs);
  expect((await newestJob(jobs)).status).toBe("CANCELLED");
});

test.each([["before its first event", []] as const, ["after its first event", ["a"]] as const])(
  "a job that is cancelled %s is not a success",
  async (_when, words) => {
    const opening = openStream(llm, { words, ends: "wait" });
    await runs(llm);
    if (words.length > 0) await (await opening).next();
    expect((await llm.call("POST", `/cancel/${(await newestJob(llm)).id}`)).status).toBe(200);
    const { response, text } = await opening;
    const all = await text();
    const error = words.length > 0 ? errorEvent(all) : at(JSON.parse(all), "error");
    expect(response.status).toBe(words.length > 0 ? 200 : 410);
    expect(error).toEqual(failure("invalid_request_error", "job_cancelled"));
    expect(all).not.toContain("[DONE]");
  },
);

test.each([
  ["a call", { wait: true }, 0],
  ["a stream before its first event", { stream: true, wait: true }, 0],
  ["a stream after its first event", { stream: true, words: ["a"], ends: "wait" }, 1],
] as const)("%s whose job exceeds its executionTimeout is not a success", async (_what, body, events) => {
  const jobs = await timed.jobsOn("llm", { executionTimeoutMs: 5000 });
  const opening = open(timed, jobs, body);
  await runs(jobs);
  if (events > 0) await (await opening).next();
  await clock.advance(5000);
  const { response, text } = await opening;
  const all = await text();
  expect(response.status).toBe(events > 0 ? 200 : 504);
  expect(events > 0 ? errorEvent(all) : at(JSON.parse(all), "error")).toEqual(
    failure("server_error", "job_timed_out", expect.stringContaining("executionTimeout")),
  );
});

test("a call whose job is purged returns 404", async () => {
  const jobs = await rig.jobsOn("llm", { workersMax: 0 });
  const call = jobs.call("POST", path, {});
  await waits(jobs);
  await jobs.call("POST", "/purge-queue");
  const { status, json } = await call;
  expect([status, at(json, "error", "code")]).toEqual([404, "not_found"]);
});

test.each([[{}], [{ stream: true }]])(
  "a call with %j waits for 300 s, then returns 504 and cancels its job",
  async (body) => {
    const jobs = await timed.jobsOn("llm", { workersMax: 0 });
    const call = jobs.call("POST", path, body);
    await waits(jobs);
    await clock.advance(299_999);
    expect(await isPending(call)).toBe(true);
    await clock.advance(1);
    const { status, json } = await call;
    expect(status).toBe(504);
    expect(at(json, "error")).toEqual(
      failure("server_error", "job_timed_out", expect.stringContaining("did not end within 300 s")),
    );
    expect((await newestJob(jobs)).status).toBe("CANCELLED");
  },
);

test.each([[{ wait: true }], [{ stream: true, words: ["a"], ends: "wait" }]])(
  "the running job of a call with %j is cancelled when its caller disconnects",
  async (body) => {
    const disconnect = new AbortController();
    const call = open(rig, llm, body, disconnect.signal).then(({ text }) => text());
    await runs(llm);
    disconnect.abort();
    await call.catch(() => undefined);
    await isFree(llm);
    expect((await newestJob(llm)).status).toBe("CANCELLED");
  },
);

test("a queued job is removed when its caller disconnects", async () => {
  const jobs = await rig.jobsOn("llm", { workersMax: 0 });
  const disconnect = new AbortController();
  const call = open(rig, jobs, {}, disconnect.signal);
  await waits(jobs);
  disconnect.abort();
  await call.catch(() => undefined);
  await waits(jobs, 0);
});

test("a slow client is not sent events far ahead of its reads, and finally receives all", async () => {
  // A separate service and connection, whose buffers have not grown.
  const separate = await useLocalService({ images });
  const jobs = await separate.jobsOn("llm");
  const { next, text } = await open(separate, jobs, { stream: true, size: 500_000, count: 36 });
  let all = await next();
  await jobs.healthBecomes(({ jobs }) => jobs["completed"] === 1);
  const shape = z.object({ chunks: z.number(), read: z.number() });
  const [counts] = readStore(separate.dataFolder, "SELECT chunks, chunks_read AS read FROM job_streams", shape) ?? [];
  expect(counts?.chunks).toBe(36);
  expect(counts?.read).toBeLessThan(36);
  all += await text();
  const events = Array.from({ length: 36 }, (_, at) => `data: ${JSON.stringify(`${at}:${"x".repeat(500_000)}`)}\n\n`);
  expect(all === `${events.join("")}data: [DONE]\n\n`).toBe(true);
});

test("a stopping service ends a waiting call immediately with 503", async () => {
  const stopping = await useLocalService();
  const jobs = await stopping.jobsOn("none", { workersMax: 0 });
  const calls = [{}, { stream: true }].map((body) => jobs.call("POST", path, body));
  await waits(jobs, 2);
  await stopping.stop();
  for (const { status, json } of await Promise.all(calls))
    expect([status, at(json, "error", "code")]).toEqual([503, "stopping"]);
});
