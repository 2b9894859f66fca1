import { expect, test } from "vitest";
import { invokeJob } from "../../../../provider/functions/program-calls";
import { kinds } from "../../../../provider/resources";
import { type Behaviour, json } from "../../../support/faulty-server";
import { naming } from "../../../support/naming";
import { startScriptedJobs } from "../../../support/scripted-service";

const { JobInvoke } = kinds;

const job = (status: string, more: object = {}): Behaviour => json({ id: "j1", status, ...more });
const { inputs } = JobInvoke.check({}, { endpointId: "e1", input: {} }, naming());
const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (response) => `succeeded with ${JSON.stringify(response)}`,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

const faults: [string, Behaviour, string][] = [
  ["an invalid request", json({ error: "invalid" }, 400), "the service rejected the request: invalid"],
  ["a server error", json({ error: "boom" }, 500), "failed with HTTP 500: boom"],
  ["a rejected key", json({ error: "no" }, 401), "rejected the API key"],
  ["a forbidden call", json({ error: "no" }, 403), "the API key is valid but lacks a permission"],
  ["a rate limit", json({ error: "slow" }, 429), "still rate limited by"],
  ["an unavailable service", json({ error: "down" }, 503), "is still unavailable after retries: down"],
  ["a lost connection", { action: "hang up" }, "the connection to "],
  ["an unexpected response", json({ id: 7 }), "sent an unexpected response"],
];

test.each(faults)(
  "a job whose state cannot be read is cancelled, and the message names it (%s)",
  async (_fault, status, text) => {
    const { context, calls } = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: () => status,
      cancel: () => job("CANCELLED"),
    });
    const message = await failureOf(JobInvoke.create(inputs, context));
    expect(message).toMatch(/^job j1 on endpoint "e1": /);
    expect(message).toContain(text);
    expect(message).toMatch(/\nThe job was cancelled\.$/);
    expect(calls.filter((call) => call === "cancel")).toHaveLength(1);
  },
);

test.each(["resource", "call of a program"])("a job may still run if the service is down (%s)", async (caller) => {
  const down = (): Behaviour => ({ action: "reset" });
  const { context, settings } = await startScriptedJobs({
    runsync: () => job("IN_QUEUE"),
    status: down,
    cancel: down,
  });
  const args = { endpointId: "e1", input: {}, mode: "sync" } as const;
  const work =
    caller === "resource"
      ? JobInvoke.create(JobInvoke.check({}, args, naming()).inputs, context)
      : invokeJob(args, { settings });
  const message = await failureOf(work);
  expect(message).toContain('job j1 on endpoint "e1": the connection to ');
  expect(message).toContain("The job could not be cancelled and may still run.");
});

test("a job whose state cannot be read is no failure if it has ended", async () => {
  const { context } = await startScriptedJobs({
    run: () => job("IN_QUEUE"),
    status: () => json({ error: "invalid" }, 400),
    cancel: () => job("COMPLETED", { output: 42 }),
  });
  const { outputs } = await JobInvoke.create(inputs, context);
  expect(outputs).toMatchObject({ status: "COMPLETED", output: 42 });
});
