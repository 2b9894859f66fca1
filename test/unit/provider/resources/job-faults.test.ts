import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";
import { type Behaviour, json } from "../../../support/faulty-server";
import { longSecrets } from "../../../support/long-secrets";
import { naming } from "../../../support/naming";
import { startScriptedJobs } from "../../../support/scripted-service";

const { JobInvoke } = kinds;

const job = (status: string, more: object = {}): Behaviour => json({ id: "j1", status, ...more });
const health = (): Behaviour =>
  json({
    jobs: { completed: 1, failed: 2, inProgress: 0, inQueue: 3, retried: 0 },
    workers: { idle: 0, running: 0, throttled: 1 },
  });
const healthLine =
  /jobs 3 in queue, 0 in progress, 1 completed, 2 failed, 0 retried; workers 0 idle, 0 running, 0 starting, 1 throttled/;

const inputsOf = (news: Properties = {}): Properties => {
  const { inputs, failures } = JobInvoke.check({}, { endpointId: "e1", input: { prompt: "ping" }, ...news }, naming());
  expect(failures).toEqual([]);
  return inputs;
};
const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (response) => `succeeded with ${JSON.stringify(response)}`,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

describe("a job with an unexpected result fails with an actionable message", () => {
  test("a handler's failure: status, error text, health and the next step", async () => {
    const { context } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: () => job("FAILED", { error: "ValueError: boom\n  at line 3" }),
      health,
    });
    const message = await failureOf(JobInvoke.create(inputsOf(), context));
    expect(message).toMatch(
      /^job j1 on endpoint "e1" ended FAILED, expected COMPLETED\nerror: ValueError: boom\n {2}at line 3\n/,
    );
    expect(message).toMatch(healthLine);
    expect(message).toContain("logs");
  });

  test.each(Object.entries(longSecrets()))(
    "a handler's failure with a long secret (%s): redacted, even if the text is truncated",
    async (_name, secret) => {
      for (const error of [`${"x".repeat(3900)}${secret}`, JSON.stringify({ tried: secret }), { tried: secret }]) {
        const { context } = await startScriptedJobs({ run: () => job("FAILED", { error }), health });
        const secrets = { paths: [["input", "prompt"]], values: [secret] };
        const message = await failureOf(
          JobInvoke.create(inputsOf({ input: { prompt: secret } }), { ...context, secrets }),
        );
        expect(message).toContain("[secret]");
        for (const piece of [secret.slice(0, 20), secret.slice(60, 80), secret.slice(-20)])
          expect(message.includes(piece) || message.includes(JSON.stringify(piece).slice(1, -1)), message).toBe(false);
      }
    },
  );

  const ended = 'job j1 on endpoint "e1" ended';
  test.each<[string, Behaviour, RegExp, Properties?]>([
    [
      "its own timeout names the setting to raise",
      job("TIMED_OUT"),
      /ended TIMED_OUT.*[\s\S]*policy\.executionTimeout/,
    ],
    [
      "success instead of an expected failure",
      job("COMPLETED"),
      /ended COMPLETED, expected FAILED/,
      { expect: { status: "FAILED" } },
    ],
    ["an error that is no text", job("FAILED", { error: { code: 7 } }), /error: \{"code":7\}\nendpoint: jobs /],
    ...[undefined, null, ""].map((error): [string, Behaviour, RegExp] => [
      `the error ${JSON.stringify(error)} has no line`,
      job("FAILED", { error }),
      new RegExp(`^${ended} FAILED, expected COMPLETED\\nendpoint: jobs `),
    ]),
    ["a very long error text is truncated", job("FAILED", { error: "x".repeat(100_000) }), /^[\s\S]{1,5000}$/],
  ])("%s", async (_what, result, message, news) => {
    const { context } = await startScriptedJobs({ run: () => result, health });
    expect(await failureOf(JobInvoke.create(inputsOf(news), context))).toMatch(message);
  });

  test("unreadable health does not hide the failure", async () => {
    const { context } = await startScriptedJobs({ run: () => job("FAILED"), health: () => json({}, 400) });
    expect(await failureOf(JobInvoke.create(inputsOf(), context))).toMatch(
      /ended FAILED, expected COMPLETED\nendpoint: its health cannot be read/,
    );
  });

  test("a job that the service no longer stores", async () => {
    const { context, calls } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: (call) => (call < 3 ? job("IN_PROGRESS") : json({ error: "job not found" }, 404)),
    });
    expect(await failureOf(JobInvoke.create(inputsOf(), context))).toMatch(
      /job j1 on endpoint "e1" is gone\n.*policy\.ttl/,
    );
    expect(calls).not.toContain("cancel");
  });

  test("a job that the service never shows, after about 30 s", async () => {
    const { context, clock } = await startScriptedJobs({ run: () => job("IN_QUEUE") });
    expect(await failureOf(JobInvoke.create(inputsOf(), context))).toBe(
      'job j1 on endpoint "e1" was accepted, but the service does not know it\nIt may have lost the job; the next deployment runs a new one.',
    );
    expect(clock.now()).toBeGreaterThanOrEqual(30_000);
  });

  test("a new job that the service does not show within the timeout", async () => {
    const { context, clock, calls } = await startScriptedJobs({ run: () => job("IN_QUEUE"), health });
    expect(await failureOf(JobInvoke.create(inputsOf({ timeout: 10 }), context))).toMatch(
      /^job j1 on endpoint "e1" was still IN_QUEUE after 1\d s; it could not be cancelled and may still run\n/,
    );
    // The cancellation is repeated within the time for cleanup.
    expect(calls.filter((call) => call === "cancel").length).toBeGreaterThan(1);
    expect(clock.now()).toBeLessThan(20_000);
  });

  test("a new job that the service does not show within the verb's timeout is cancelled", async () => {
    const { context, calls } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      cancel: () => job("CANCELLED"),
      health,
    });
    const creating = JobInvoke.create(inputsOf(), { ...context, timeout: 25_000 });
    expect(await failureOf(creating)).toMatch(
      /^job j1 on endpoint "e1" was still IN_QUEUE after 20 s; it was cancelled\n[\s\S]*The create timed out after 25 s/,
    );
    expect(calls).toContain("cancel");
  });

  test("blanks around the error and the reason of the health are removed", async () => {
    const message = "  the image cannot be pulled\n";
    const { context } = await startScriptedJobs({
      run: () => job("FAILED", { error: "\n boom \n" }),
      health: () => json({ jobs: {}, workers: {}, message }),
    });
    const lines = (await failureOf(JobInvoke.create(inputsOf(), context))).split("\n");
    expect(lines[1]).toBe("error: boom");
    expect(lines[3]).toBe("the image cannot be pulled");
  });
});

describe("a submission with a lost response is not retried", () => {
  test.each<[string, Behaviour]>([
    ["hang up", { action: "hang up" }],
    ["reset", { action: "reset" }],
    ["500", json({ error: "oops" }, 500)],
    ["a truncated response", { action: "truncate", status: 200, body: '{"id": "j1", "status": "IN_QUEUE"}' }],
  ])("%s", async (_, behaviour) => {
    for (const mode of ["async", "sync"]) {
      const { context, calls } = await startScriptedJobs({ run: () => behaviour, runsync: () => behaviour });
      const message = await failureOf(JobInvoke.create(inputsOf({ mode }), context));
      expect(message).toMatch(/^the response to the job's submission on endpoint "e1" was lost[\s\S]*not resubmitted/);
      expect(calls).toEqual([mode === "sync" ? "runsync" : "run"]);
    }
  });
});

describe("a job that exceeds its timeout", () => {
  test("is cancelled, with its progress and the next step in the message", async () => {
    const { context, calls, messages, clock } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: () => job("IN_QUEUE"),
      cancel: () => job("CANCELLED"),
      health,
    });
    const message = await failureOf(JobInvoke.create(inputsOf({ timeout: 30 }), context));
    expect(message).toMatch(/^job j1 on endpoint "e1" was still IN_QUEUE after 30 s; it was cancelled\n/);
    expect(message).toMatch(healthLine);
    expect(message).toContain("Raise workersMax");
    expect(calls.filter((call) => call === "cancel")).toHaveLength(1);
    expect(clock.now()).toBe(30_000);
    expect(messages).toContain("job j1 IN_QUEUE: 0 s of at most 30 s");
    // Every 250 ms in the first 5 s, then every 400 ms.
    expect(calls.filter((call) => call === "status").length).toBe(83);
  });

  test("reports the service's reason for its wait, during the wait and at the end", async () => {
    const reason = 'the image "acme/chat:1" has no command on this machine';
    const { context, calls, messages } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: () => job("IN_QUEUE"),
      cancel: () => job("CANCELLED"),
      health: () => json({ jobs: { inQueue: 1 }, workers: { throttled: 1 }, message: `${reason}\nhush-hush-hush` }),
    });
    const secrets = { paths: [], values: ["hush-hush-hush"] };
    const message = await failureOf(JobInvoke.create(inputsOf({ timeout: 30 }), { ...context, secrets }));
    expect(message).toMatch(
      /1 throttled\nthe image "acme\/chat:1" has no command on this machine\n\[secret\]\nNo worker/,
    );
    const [early, late] = [messages.slice(0, 3), messages.slice(-2)];
    expect(early.filter((text) => text.includes(reason))).toEqual([]);
    for (const text of late)
      expect(text).toMatch(/^job j1 IN_QUEUE: \d+ s of at most 30 s; the image "acme\/chat:1" has .*machine$/);
    // Once in the queue, once for the message.
    expect(calls.filter((call) => call === "health")).toHaveLength(2);
  });

  test("respects a shorter timeout of the deployment step", async () => {
    const jobApi = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: () => job("IN_PROGRESS"),
      cancel: () => job("CANCELLED"),
      health,
    });
    await jobApi.clock.sleep(2000);
    const message = await failureOf(JobInvoke.create(inputsOf(), { ...jobApi.context, timeout: 5000 }));
    expect(message).toMatch(/still IN_PROGRESS after 4 s; it was cancelled[\s\S]*create timed out after 5 s/);
  });

  test("is not a failure if it ends during its cancellation", async () => {
    let isCancelRequested = false;
    const { context } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: () => job(isCancelRequested ? "COMPLETED" : "IN_PROGRESS", { output: 42 }),
      cancel: () => {
        isCancelRequested = true;
        return json({ error: "job is already COMPLETED" }, 400);
      },
    });
    const { outputs } = await JobInvoke.create(inputsOf({ timeout: 4 }), context);
    expect(outputs).toMatchObject({ status: "COMPLETED", output: 42 });
  });

  test("may still run if it cannot be cancelled, as the message states", async () => {
    let isCancelRequested = false;
    const { context } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: () => (isCancelRequested ? json({}, 400) : job("IN_PROGRESS")),
      cancel: () => {
        isCancelRequested = true;
        return json({ error: "no" }, 400);
      },
      health,
    });
    expect(await failureOf(JobInvoke.create(inputsOf({ timeout: 4 }), context))).toContain(
      "it could not be cancelled and may still run",
    );
  });
});

describe("a cancelled deployment", () => {
  test.each([
    ["was cancelled", job("CANCELLED"), ["cancel"]],
    // The job may have ended in the meantime.
    ["could not be cancelled and may still run", json({ error: "no" }, 400), ["cancel", "status"]],
  ])("cancels the job on the service, reports that it %s, and ends with its own reason", async (end, cancel, last) => {
    const stop = new AbortController();
    const reason = new Error("stopped by the user");
    const { context, calls } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: (call) => {
        if (call === 3) stop.abort(reason);
        return job("IN_PROGRESS");
      },
      cancel: () => cancel,
    });
    const lines: string[] = [];
    const progress = (text: string): void => void lines.push(text);
    await expect(JobInvoke.create(inputsOf(), { ...context, progress, signal: stop.signal })).rejects.toBe(reason);
    expect(calls.slice(calls.indexOf("cancel"))).toEqual(last);
    expect(lines.at(-1)).toBe(`job j1 on endpoint "e1" ${end}`);
  });

  test("sends nothing if it is cancelled before the submission", async () => {
    const reason = new Error("stopped by the user");
    const { context, calls } = await startScriptedJobs({ run: () => job("COMPLETED") });
    await expect(JobInvoke.create(inputsOf(), { ...context, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(calls).toEqual([]);
  });
});
