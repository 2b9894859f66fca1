import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { ManualClock } from "../../../support/manual-clock";
import { useJobRig } from "./support/job-rig";

vi.setConfig({ testTimeout: 30_000 });
const images = { llm: join(__dirname, "support", "llm.mjs") };
const key = { authorization: "Bearer a-key-for-this-test-only", "content-type": "application/json" };

test("POST /openai/* becomes a job with route and body, and answers its output", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const body = { model: "m", messages: [{ role: "user", content: "hi" }] };
  const answer = await jobs.call("POST", "/openai/v1/chat/completions", body);
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({ route: "/v1/chat/completions", body });
});

test("a body that asks for a stream is answered with events as they come, and [DONE]", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const answer = await fetch(`${rig.root}/v2/${jobs.id}/openai/v1/completions`, {
    ...{ method: "POST", headers: key, body: JSON.stringify({ stream: true, words: ["a", "b"] }) },
  });
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  expect(await answer.text()).toBe('data: {"word":"a"}\n\ndata: {"word":"b"}\n\ndata: [DONE]\n\n');
});

test("events that a handler made itself are passed on", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const body = JSON.stringify({ stream: true, raw: ["data: 1\n\n", "data: [DONE]"] });
  const answer = await fetch(`${rig.root}/v2/${jobs.id}/openai/v1/completions`, { method: "POST", headers: key, body });
  expect(await answer.text()).toBe("data: 1\n\ndata: [DONE]\n\n");
});

test("a job that fails answers 500 with its error", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("llm");
  const answer = await jobs.call("POST", "/openai/v1/completions", { fail: true });
  expect(answer.status).toBe(500);
  expect(answer.text("error")).toContain("no such model");
});

test("the job ends with its caller", async () => {
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

test("a call is held for 300 s and then answered that its job is not over", async () => {
  const clock = new ManualClock();
  const rig = await useJobRig({ images, clock });
  const jobs = await rig.endpoint("llm", { workersMax: 0 });
  let answered = false;
  const call = jobs.call("POST", "/openai/v1/completions", {}).finally(() => {
    answered = true;
  });
  await jobs.healthBecomes(({ jobs }) => jobs["inQueue"] === 1);
  await clock.advance(299_999);
  expect(answered).toBe(false);
  await clock.advance(1);
  const { status, text } = await call;
  expect([status, text("error")]).toEqual([500, expect.stringContaining("did not end in time: it is IN_QUEUE")]);
});
