import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import { invokeJob } from "../../../../provider/functions/program-calls";
import { kinds } from "../../../../provider/resources";
import { expectPreviewOutputs } from "../../../faults/support/preview-outputs";
import { type Behaviour, json } from "../../../support/faulty-server";
import { naming } from "../../../support/naming";
import { startScriptedJobs } from "../../../support/scripted-service";

const { JobInvoke } = kinds;

const job = (status: string, more: object = {}): Behaviour => json({ id: "j1", status, ...more });

const s3Config = { accessId: "id", accessSecret: "quiet-secret", bucketName: "b", endpointUrl: "https://127.0.0.1:9" };

const inputsOf = (news: Properties = {}): Properties =>
  JobInvoke.check({}, { endpointId: "e1", input: { prompt: "ping" }, ...news }, naming()).inputs;

describe("a successful job", () => {
  test("is submitted once with its input and policy, and reported with its times", async () => {
    const { context, calls, bodies } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: (call) =>
        call === 1
          ? job("IN_PROGRESS")
          : job("COMPLETED", { output: { text: "pong" }, delayTime: 3, executionTime: 4 }),
    });
    const sent = { policy: { ttl: 60_000 }, webhook: "https://127.0.0.1:9/done", s3Config };
    const inputs = inputsOf({ ...sent, expect: { output: { text: "pong" } }, triggers: ["r1"] });
    expect(await JobInvoke.create(inputs, context)).toEqual({
      id: "j1",
      outputs: {
        ...inputs,
        jobId: "j1",
        status: "COMPLETED",
        output: { text: "pong" },
        delayTime: 3,
        executionTime: 4,
      },
    });
    expect(calls).toEqual(["run", "status", "status"]);
    expect(bodies).toEqual([{ input: { prompt: "ping" }, ...sent }]);
  });

  test("requires one call in sync mode if it ends in time, and is polled otherwise", async () => {
    const quick = await startScriptedJobs({ runsync: () => job("COMPLETED", { output: null }) });
    expect((await JobInvoke.create(inputsOf({ mode: "sync" }), quick.context)).outputs["output"]).toBe(null);
    expect(quick.calls).toEqual(["runsync"]);
    const long = await startScriptedJobs({ runsync: () => job("IN_PROGRESS"), status: () => job("COMPLETED") });
    await JobInvoke.create(inputsOf({ mode: "sync" }), long.context);
    expect(long.calls).toEqual(["runsync", "status"]);
  });

  test.each(["async", "sync"])(
    "has exact numbers: as text those that JavaScript cannot represent (%s)",
    async (mode) => {
      const completed = (): Behaviour => ({
        action: "respond",
        status: 200,
        body: '{"id":"j1","status":"COMPLETED","executionTime":12.12345678901234567,"output":{"seeds":[7,{"seed":12345678901234567890}],"max":1e400,"min":1e-400}}',
      });
      const { context } = await startScriptedJobs({ run: completed, runsync: completed });
      const output = { seeds: [7, { seed: "12345678901234567890" }], max: "1e400", min: "1e-400" };
      const { outputs } = await JobInvoke.create(inputsOf({ mode, expect: { output } }), context);
      expect(outputs).toMatchObject({ output, executionTime: 12.123456789012346 });
      const rounded = inputsOf({ mode, expect: { output: { seeds: [7, { seed: 12345678901234567000 }], min: 0 } } });
      const failure = await JobInvoke.create(rounded, context).catch(String);
      expect(failure).toContain('output.seeds.1.seed: expected 12345678901234567000, got "12345678901234567890"');
      expect(failure).toContain('output.min: expected 0, got "1e-400"');
    },
  );

  test.each(["async", "sync"])("is found although the service shows it late (%s)", async (mode) => {
    const missing = json({ error: "job not found" }, 404);
    const { context, calls } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      runsync: () => job("IN_QUEUE"),
      status: (call) => (call < 5 ? missing : job("COMPLETED")),
    });
    expect((await JobInvoke.create(inputsOf({ mode }), context)).outputs["status"]).toBe("COMPLETED");
    expect(calls.filter((call) => call !== "status")).toHaveLength(1);
  });

  test.each<[string, Properties, Behaviour, string]>([
    ["fails", {}, job("FAILED", { error: `denied for ${s3Config.accessSecret}` }), "error: denied for [secret]"],
    [
      "has an unexpected output",
      { expect: { output: "ok" } },
      job("COMPLETED", { output: s3Config.accessSecret }),
      'expected "ok", got "[secret]"',
    ],
    ["is rejected", {}, json({ error: `bad ${s3Config.accessSecret}` }, 400), "bad [secret]"],
  ])("hides s3Config in the error of invokeJob if the job %s", async (_what, args, response, message) => {
    const { settings } = await startScriptedJobs({ run: () => response });
    const failure = await invokeJob({ endpointId: "e1", input: {}, s3Config, ...args }, { settings }).catch(String);
    expect(failure).toContain(message);
    expect(failure).not.toContain(s3Config.accessSecret);
  });

  test.each([
    ["names an empty input", {}, true],
    ["names no other input", { prompt: "ping" }, false],
  ])("that fails %s as a possible cause, because the hosted service removes it", async (_what, input, isNamed) => {
    const { context } = await startScriptedJobs({ run: () => job("FAILED") });
    const failure = await JobInvoke.create(inputsOf({ input }), context).catch(String);
    expect(String(failure).includes("the hosted service removes an empty input; set a property in it")).toBe(isNamed);
  });

  test("is not requested by a refresh or a delete", async () => {
    const { context, calls } = await startScriptedJobs({});
    const olds = { ...inputsOf(), jobId: "j1", status: "COMPLETED", output: { a: 1 } };
    const readResult = await JobInvoke.read("j1", olds, context);
    expect(readResult).toEqual({ inputs: inputsOf(), outputs: olds });
    await JobInvoke.delete("j1", olds, context);
    expect(calls).toEqual([]);
  });

  test("cannot be imported or looked up", async () => {
    const { context } = await startScriptedJobs({});
    // The dynamic provider passes the inputs of the program.
    for (const state of [{}, inputsOf()])
      await expect(JobInvoke.read(" j1", state, context)).rejects.toThrow(
        'JobInvoke " j1": cannot be imported, because it always runs a new job; declare it without an id',
      );
  });
});

describe("a job with storeOutput false", () => {
  const output = { text: "é", seed: "12345678901234567890" };
  const text = JSON.stringify(output);
  const stored = {
    outputSha256: createHash("sha256").update(text).digest("hex"),
    outputSize: Buffer.byteLength(text),
  };
  const start = async () => {
    let runs = 0;
    const body = (id: string) =>
      `{"id":"${id}","status":"COMPLETED","output":{"text":"é","seed":12345678901234567890}}`;
    const run = (): Behaviour => ({ action: "respond", status: 200, body: body(`j${++runs}`) });
    return startScriptedJobs({ run });
  };
  const withoutOutput = inputsOf({ storeOutput: false });

  test("stores the hash and the size of its output instead", async () => {
    const { context } = await start();
    const { outputs } = await JobInvoke.create(withoutOutput, context);
    expect(outputs).toEqual({ ...withoutOutput, jobId: "j1", status: "COMPLETED", ...stored });
  });

  test("is compared with the whole output", async () => {
    const { context } = await start();
    await JobInvoke.create(inputsOf({ storeOutput: false, expect: { output } }), context);
    const wrong = inputsOf({ storeOutput: false, expect: { output: { text: "e" } } });
    await expect(JobInvoke.create(wrong, context)).rejects.toThrow('output.text: expected "e", got "é"');
  });

  test("loses a stored output without another run, and runs again to store it", async () => {
    const { context, calls } = await start();
    const { id, outputs } = await JobInvoke.create(inputsOf(), context);
    expect(outputs).toMatchObject({ output, jobId: "j1" });
    const preview = JobInvoke.previewOutputs(outputs, withoutOutput, { id });
    const removed = await JobInvoke.update(id, outputs, withoutOutput, context);
    expect(removed).toEqual({ ...withoutOutput, jobId: "j1", status: "COMPLETED", ...stored });
    expectPreviewOutputs(preview, removed, outcome);
    expect(calls).toEqual(["run"]);
    // Without a change, as by a change of customTimeouts.
    expect(await JobInvoke.update(id, removed, withoutOutput, context)).toEqual(removed);
    const again = await JobInvoke.update(id, removed, inputsOf(), context);
    expect(again).toEqual({ ...inputsOf(), jobId: "j2", status: "COMPLETED", output });
  });

  test("is no change for a state that an earlier version recorded", async () => {
    const { context } = await start();
    const { outputs } = await JobInvoke.create(inputsOf(), context);
    const { storeOutput: _unrecorded, ...recorded } = outputs;
    expect(JobInvoke.diff(recorded, inputsOf())).toEqual([]);
  });
});

/** Outputs that only a run determines. */
const outcome = ["jobId", "status", "output", "outputSha256", "outputSize", "delayTime", "executionTime"];

test.each<[string, Properties]>([
  ["endpointId", { endpointId: "e2" }],
  ["input", { input: { prompt: "ping", more: { deep: [1] } } }],
  ["mode", { mode: "sync" }],
  ["policy", { policy: { ttl: 60_000 } }],
  ["webhook", { webhook: "http://127.0.0.1:9/" }],
  ["s3Config", { s3Config }],
  ["timeout", { timeout: 60 }],
  ["triggers", { triggers: ["r2"] }],
  ["expect", { expect: { output: { text: "a" } } }],
])(
  "a job runs again if %s is changed or reverted, and its previews contain the remaining outputs",
  async (input, change) => {
    let runs = 0;
    const completed = (): Behaviour => json({ id: `j${++runs}`, status: "COMPLETED", output: { text: "a" } });
    const { context } = await startScriptedJobs({ run: completed, runsync: completed });
    const [first, changed] = [inputsOf(), inputsOf(change)];
    const { id, outputs } = await JobInvoke.create(first, context);
    expectPreviewOutputs(JobInvoke.previewOutputs(undefined, first, {}), outputs, outcome);
    let olds = outputs;
    for (const [run, news] of [changed, first].entries()) {
      expect([...new Set(JobInvoke.diff(olds, news).map(({ path }) => path[0]))]).toEqual([input]);
      const previewed = JobInvoke.previewOutputs(olds, news, { id });
      olds = await JobInvoke.update(id, olds, news, context);
      expectPreviewOutputs(previewed, olds, outcome);
      expect(olds["jobId"]).toBe(`j${run + 2}`);
      expect(JobInvoke.diff(olds, news)).toEqual([]);
    }
  },
);
