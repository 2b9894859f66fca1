import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { lookIntoStore } from "../../../../service/store/database";
import { ManualClock } from "../../../support/manual-clock";
import { at } from "../../../support/raw-http";
import { type JobRig, type Jobs, useJobRig } from "./support/job-rig";

const images = { llm: join(__dirname, "support", "llm.mjs") };
const key = { authorization: "Bearer a-key-for-this-test-only", "content-type": "application/json" };

/** Opens a stream; `text` reads the rest of it. */
async function openStream(rig: JobRig, jobs: Jobs, body: object, signal?: AbortSignal) {
  const answer = await fetch(`${rig.root}/v2/${jobs.id}/openai/v1/completions`, {
    method: "POST",
    headers: key,
    body: JSON.stringify({ stream: true, ...body }),
    ...(signal ? { signal } : {}),
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async (): Promise<string> => (await reader?.read())?.value ?? "";
  const text = async (): Promise<string> => {
    let all = "";
    for (let part = await next(); part !== ""; part = await next()) all += part;
    return all;
  };
  return { answer, next, text };
}
const errorEvent = (text: string): unknown =>
  at(JSON.parse(/data: (\{"error".*)\n\n$/.exec(text)?.[1] ?? "{}"), "error");
const job = z.looseObject({ id: z.string(), status: z.string() });
/** The endpoint's only job; only /requests lists its id. */
async function onlyJob(jobs: Jobs): Promise<z.output<typeof job>> {
  const { json } = await jobs.call("GET", "/requests");
  return job.parse(at(json, "requests", 0));
}
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
])("%s /openai%s reaches the handler", async (method, path, body) => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const answer = await jobs.call(method, `/openai${path}`, body);
  expect([answer.status, answer.json]).toEqual([200, { route: path, body: body ?? {} }]);
});

test("events of the handler itself are passed through", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const body = JSON.stringify({ stream: true, raw: ["data: 1\n\n", "data: [DONE]"] });
  const answer = await fetch(`${rig.root}/v2/${jobs.id}/openai/v1/completions`, { method: "POST", headers: key, body });
  expect(await answer.text()).toBe("data: 1\n\ndata: [DONE]\n\n");
});

test("a value above 1 MB, which /stream would split, is one event", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const word = "é\u0000".repeat(700_000);
  const { text } = await openStream(rig, jobs, { words: [word], raw: [`data: ${"y".repeat(1_200_000)}`] });
  expect(await text()).toBe(`data: ${JSON.stringify({ word })}\n\ndata: ${"y".repeat(1_200_000)}\n\ndata: [DONE]\n\n`);
});

test("a stream whose job fails after its first event ends with an error event and without [DONE]", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const { answer, text } = await openStream(rig, jobs, { words: ["a"], ends: "fail" });
  const all = await text();
  expect(answer.status).toBe(200);
  expect(all).toMatch(/^data: \{"word":"a"\}\n\n/);
  expect(errorEvent(all)).toEqual(failure("server_error", "job_failed", expect.stringContaining("out of memory")));
  expect(all).not.toContain("[DONE]");
});

test("a stream whose worker is lost ends with an error event, because the next worker would start over", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const { text } = await openStream(rig, jobs, { words: ["a"], ends: "crash" });
  const all = await text();
  expect(all).toMatch(/^data: \{"word":"a"\}\n\ndata: \{"error"/);
  expect(errorEvent(all)).toEqual(failure("server_error", "job_failed", expect.stringContaining("worker")));
  await jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 0 && jobs["inQueue"] === 0);
  expect((await onlyJob(jobs)).status).toBe("CANCELLED");
});

test.each([["before its first event", []] as const, ["after its first event", ["a"]] as const])(
  "a job that is cancelled %s is not a success",
  async (_when, words) => {
    const rig = await useJobRig({ images });
    const jobs = await rig.endpoint("llm");
    const opening = openStream(rig, jobs, { words, ends: "wait" });
    await jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 1);
    if (words.length > 0) await (await opening).next();
    expect((await jobs.call("POST", `/cancel/${(await onlyJob(jobs)).id}`)).status).toBe(200);
    const { answer, text } = await opening;
    const all = await text();
    const error = words.length > 0 ? errorEvent(all) : at(JSON.parse(all), "error");
    expect(answer.status).toBe(words.length > 0 ? 200 : 410);
    expect(error).toEqual(failure("invalid_request_error", "job_cancelled"));
    expect(all).not.toContain("[DONE]");
  },
);

test.each([
  ["a call", { wait: true }, 0],
  ["a stream before its first event", { stream: true, wait: true }, 0],
  ["a stream after its first event", { stream: true, words: ["a"], ends: "wait" }, 1],
] as const)("%s whose job exceeds its executionTimeout is not a success", async (_what, body, events) => {
  const clock = new ManualClock();
  const rig = await useJobRig({ images, clock });
  const jobs = await rig.endpoint("llm", { executionTimeoutMs: 5000 });
  const opening = openStream(rig, jobs, body);
  await jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 1);
  if (events > 0) await (await opening).next();
  await clock.advance(5000);
  const { answer, text } = await opening;
  const all = await text();
  expect(answer.status).toBe(events > 0 ? 200 : 504);
  expect(events > 0 ? errorEvent(all) : at(JSON.parse(all), "error")).toEqual(
    failure("server_error", "job_timed_out", expect.stringContaining("executionTimeout")),
  );
});

test("a purged job returns 404", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm", { workersMax: 0 });
  const call = jobs.call("POST", "/openai/v1/completions", {});
  await jobs.healthBecomes(({ jobs }) => jobs["inQueue"] === 1);
  await jobs.call("POST", "/purge-queue");
  const { status, json } = await call;
  expect([status, at(json, "error", "code")]).toEqual([404, "not_found"]);
});

test.each([[{}], [{ stream: true }]])(
  "a call with %j is held for 300 s, then returns 504 and cancels its job",
  async (body) => {
    const clock = new ManualClock();
    const rig = await useJobRig({ images, clock });
    const jobs = await rig.endpoint("llm", { workersMax: 0 });
    let answered = false;
    const call = jobs.call("POST", "/openai/v1/completions", body).finally(() => {
      answered = true;
    });
    await jobs.healthBecomes(({ jobs }) => jobs["inQueue"] === 1);
    await clock.advance(299_999);
    expect(answered).toBe(false);
    await clock.advance(1);
    const { status, json } = await call;
    expect(status).toBe(504);
    expect(at(json, "error")).toEqual(
      failure("server_error", "job_timed_out", expect.stringContaining("did not end within 300 s")),
    );
    expect((await onlyJob(jobs)).status).toBe("CANCELLED");
  },
);

test.each([[{ wait: true }], [{ stream: true, words: ["a"], ends: "wait" }]])(
  "the running job of a call with %j is cancelled with its caller",
  async (body) => {
    const rig = await useJobRig({ images });
    const jobs = await rig.endpoint("llm");
    const gone = new AbortController();
    const call = openStream(rig, jobs, { stream: false, ...body }, gone.signal).then(({ text }) => text());
    await jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 1);
    gone.abort();
    await call.catch(() => undefined);
    await jobs.healthBecomes(({ jobs }) => jobs["inProgress"] === 0 && jobs["inQueue"] === 0);
    expect((await onlyJob(jobs)).status).toBe("CANCELLED");
  },
);

test("a slow client is not sent more than it reads, and receives everything in the end", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const body = { size: 500_000, count: 36 };
  const { next, text } = await openStream(rig, jobs, body);
  let all = await next();
  await jobs.healthBecomes(({ jobs }) => jobs["completed"] === 1);
  const shape = z.object({ chunks: z.number(), read: z.number() });
  const [told] = lookIntoStore(rig.dataFolder, "SELECT chunks, chunks_read AS read FROM job_streams", shape) ?? [];
  expect(told?.chunks).toBe(36);
  expect(told?.read).toBeLessThan(36);
  all += await text();
  const events = Array.from({ length: 36 }, (_, at) => `data: ${JSON.stringify(`${at}:${"x".repeat(500_000)}`)}\n\n`);
  expect(all === `${events.join("")}data: [DONE]\n\n`).toBe(true);
});

test("a stopping service ends a waiting call immediately with 503", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm", { workersMax: 0 });
  const calls = [{}, { stream: true }].map((body) => jobs.call("POST", "/openai/v1/completions", body));
  await jobs.healthBecomes(({ jobs }) => jobs["inQueue"] === 2);
  await rig.stop();
  for (const { status, json } of await Promise.all(calls))
    expect([status, at(json, "error", "code")]).toEqual([503, "stopping"]);
});

test("a queued job is removed with its caller", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm", { workersMax: 0 });
  const gone = new AbortController();
  const call = fetch(`${rig.root}/v2/${jobs.id}/openai/v1/completions`, {
    method: "POST",
    headers: key,
    body: "{}",
    signal: gone.signal,
  });
  await jobs.healthBecomes(({ jobs }) => jobs["inQueue"] === 1);
  gone.abort();
  await call.catch(() => undefined);
  await jobs.healthBecomes(({ jobs }) => jobs["inQueue"] === 0);
});
