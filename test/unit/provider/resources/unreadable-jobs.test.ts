import { expect, test } from "vitest";
import { invokeJob } from "../../../../provider/functions/program-calls";
import { kinds } from "../../../../provider/resources";
import { type Behaviour, json } from "../../../support/faulty-server";
import { naming } from "../../../support/naming";
import { startScriptedJobs } from "../../../support/scripted-service";

const { JobInvoke } = kinds;

const job = (status: string, more: object = {}): Behaviour => json({ id: "j1", status, ...more });
const inputsOf = (mode: string) => JobInvoke.check({}, { endpointId: "e1", input: {}, mode }, naming()).inputs;
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
const variants = faults.flatMap(([fault, status, text]) =>
  ["async", "sync"].map((mode): [string, string, Behaviour, string] => [mode, fault, status, text]),
);

test.each(variants)(
  "a job whose state cannot be read is cancelled, and the message names it (%s, %s)",
  async (mode, _fault, status, text) => {
    const queued = (): Behaviour => job("IN_QUEUE");
    const { context, calls } = await startScriptedJobs({
      run: queued,
      runsync: queued,
      status: () => status,
      cancel: () => job("CANCELLED"),
    });
    const message = await failureOf(JobInvoke.create(inputsOf(mode), context));
    expect(message).toMatch(/^job j1 on endpoint "e1": /);
    expect(message).toContain(text);
    expect(message).toMatch(/\nThe job was cancelled\.$/);
    expect(calls.filter((call) => call === "cancel")).toHaveLength(1);
  },
);

test.each(["async", "sync"] as const)("a job may still run if the service is down (%s)", async (mode) => {
  const queued = (): Behaviour => job("IN_QUEUE");
  const down = (): Behaviour => ({ action: "reset" });
  const { context, settings } = await startScriptedJobs({
    run: queued,
    runsync: queued,
    status: down,
    cancel: down,
  });
  const lines = ['job j1 on endpoint "e1": the connection to ', "The job could not be cancelled and may still run."];
  const resource = await failureOf(JobInvoke.create(inputsOf(mode), context));
  const call = await failureOf(invokeJob({ endpointId: "e1", input: {}, mode }, { settings }));
  for (const message of [resource, call]) for (const line of lines) expect(message).toContain(line);
});

test("a job whose state cannot be read is no failure if it has ended", async () => {
  const { context } = await startScriptedJobs({
    run: () => job("IN_QUEUE"),
    status: () => json({ error: "invalid" }, 400),
    cancel: () => job("COMPLETED", { output: 42 }),
  });
  const { outputs } = await JobInvoke.create(inputsOf("async"), context);
  expect(outputs).toMatchObject({ status: "COMPLETED", output: 42 });
});
