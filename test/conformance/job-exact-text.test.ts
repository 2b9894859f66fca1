import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JobApi } from "../support/job-api";
import { expectResponse, type RawResponse, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { type RawWorker, useWorker } from "./support/raw-worker";
import { needsReachableReceiver, useWebhookReceiver } from "./support/webhook-receiver";

const target = await useTarget();
const account = useAccount(target);
const receiver = await useWebhookReceiver();
const joined = useWorker(target, account);

const nested = `${"[".repeat(200)}1.0${"]".repeat(200)}`;
/** A JSON object whose text changes when a program parses and serialises it. */
const exact = `{ "big":12345678901234567891,"small" : -9223372036854775808,\r\n "one":1.0,"exponent":1E5,\t"zero":-0.0,
  "__proto__":{"__proto__":[ 2.50 ],"constructor":1},"escapes":"\\u0041\\/\\ud83d\\ude00\\ud800","\\u0069nput":{},
  "twice":1,"twice":2.0,"blanks" : [ 1 , 2 ],"empty":{ },"nested":${nested} }`;

const post = (jobs: JobApi, path: string, text: string): Promise<RawResponse> =>
  send("POST", `${jobs.root}${path}`, { key: target.apiKey, text });
const submission = (more = ""): string => `{"note":{"input":1},"input" : ${exact}${more} , "later":[{"input":2}]}`;

/** Takes the job. Returns the text that the worker receives after `"input":`. */
async function takenInput(worker: RawWorker, id: string): Promise<string> {
  const response = await worker.take();
  expectResponse(response, 200, { id });
  const head = `{"id":"${id}","input":`;
  expect(response.text.startsWith(head)).toBe(true);
  return response.text.slice(head.length, -1);
}

describe("a job whose input and output contain 64-bit integers, 1.0, 1E5, -0.0, __proto__, escapes, blanks and 200 nested lists", () => {
  test("/run, worker, /status, webhook and /requests preserve every byte", async (context) => {
    needsReachableReceiver(target, context);
    const worker = await joined(context);
    const name = randomBytes(6).toString("hex");
    const s3Config = '{"bucketName" : "b","size":1.0}';
    const more = `,"webhook":"${receiver.address(name)}","s3Config":${s3Config}`;
    const id = stringAt(await post(worker.jobs, "/run", submission(more)), "id");
    expect(await takenInput(worker, id)).toBe(`${exact},"s3Config":${s3Config}`);
    expectResponse(await worker.done(id, `{"output": ${exact} }`), 200);
    const output = `,"output":${exact}}`;
    expect((await worker.jobs.status(id)).text.endsWith(output)).toBe(true);
    const received = (await receiver.call(name)).text;
    expect(received).toContain(`,"output":${exact},`);
    expect(received).toContain(`,"input":${exact},`);
    expect((await worker.jobs.call("GET", "/requests")).text).toContain(output);
  });

  test("/runsync preserves every byte", async (context) => {
    const worker = await joined(context);
    const response = post(worker.jobs, "/runsync", submission());
    const taken = await worker.take();
    expect(taken.text.endsWith(`,"input":${exact}}`)).toBe(true);
    await worker.done(stringAt(taken, "id"), `{"output":${exact}}`);
    expect((await response).text.endsWith(`,"output":${exact}}`)).toBe(true);
  });

  test("/stream preserves every byte of each chunk", async (context) => {
    const worker = await joined(context);
    const id = stringAt(await post(worker.jobs, "/run", submission()), "id");
    await takenInput(worker, id);
    await worker.stream(id, `{ "output" :${exact}}`);
    await worker.stream(id, `{"metrics":{"running" : 1.0},"output": 1E5}`);
    const { text } = await worker.jobs.call("GET", `/stream/${id}`);
    expect(text).toBe(
      `[{"output":${exact},"metrics":{"stream_index":0}},{"output":1E5,"metrics":{"stream_index":1,"running" : 1.0}}]`,
    );
    await worker.done(id, "{}");
  });

  test("progress and /retry preserve every byte", async (context) => {
    const worker = await joined(context);
    const id = stringAt(await post(worker.jobs, "/run", submission()), "id");
    await takenInput(worker, id);
    await worker.done(id, `{"status":"IN_PROGRESS","output":${exact}}`);
    expect((await worker.jobs.status(id)).text.endsWith(`,"output":${exact}}`)).toBe(true);
    await worker.done(id, `{"error":"no","output":${exact}}`);
    expectResponse(await worker.jobs.status(id), 200, { status: "FAILED", error: "no" });
    expectResponse(await worker.jobs.retry(id), 200);
    expect(await takenInput(worker, id)).toBe(exact);
    await worker.done(id, "{}");
  });

  test("/openai preserves every byte", async (context) => {
    const worker = await joined(context);
    const response = post(worker.jobs, "/openai/v1/chat/completions", exact);
    const taken = await worker.take();
    const input = `{"openai_route":"/v1/chat/completions","openai_input":${exact}}`;
    expect(taken.text.endsWith(`,"input":${input}}`)).toBe(true);
    await worker.done(stringAt(taken, "id"), `{"output":${exact}}`);
    expect((await response).text).toBe(exact);
  });
});
