import { describe, expect, test } from "vitest";
import { kinds } from "../../../../provider/resources";
import { followRollout } from "../../../../provider/resources/serverless-endpoint/rollout";
import { type Behaviour, json } from "../../../support/faulty-server";
import { naming } from "../../../support/naming";
import { startScriptedJobs, startScriptedService } from "../../../support/scripted-service";

const faults: [string, Behaviour][] = [
  ["ends connections", { action: "hang up" }],
  ["responds with 503", json({ message: "starting" }, 503)],
  ["responds with 500", json({ message: "oops" }, 500)],
];

describe("while a JobInvoke runs its job", () => {
  const { JobInvoke } = kinds;
  const job = (status: string, more: object = {}) => json({ id: "j1", status, ...more });
  const inputsOf = (more: object = {}) =>
    JobInvoke.check({}, { endpointId: "e1", input: {}, ...more }, naming()).inputs;

  /** A job that completes after 40 s; from its second poll on, the service fails for some time, ms. */
  async function startJobs(fault: Behaviour, duration: number) {
    const api = await startScriptedJobs({
      run: () => job("IN_QUEUE"),
      status: (call) => {
        const now = api.clock.now();
        if (call > 1 && now < duration) return fault;
        return now < 40_000 ? job("IN_PROGRESS") : job("COMPLETED", { output: 42 });
      },
      cancel: () => job("CANCELLED"),
    });
    return api;
  }

  test.each(faults)("a service that %s for 25 s does not end the job", async (_how, fault) => {
    const { context, calls } = await startJobs(fault, 25_000);
    const { outputs } = await JobInvoke.create(inputsOf(), context);
    expect(outputs).toMatchObject({ status: "COMPLETED", output: 42 });
    expect(calls).not.toContain("cancel");
  });

  test.each(faults)("a service that %s for more than 30 s ends it", async (_how, fault) => {
    const { context, calls, clock } = await startJobs(fault, Number.POSITIVE_INFINITY);
    await expect(JobInvoke.create(inputsOf(), context)).rejects.toThrow("The job was cancelled.");
    expect(calls).toContain("cancel");
    expect(clock.now()).toBeGreaterThanOrEqual(30_000);
    expect(clock.now()).toBeLessThan(32_000);
  });

  test("a service that fails does not extend its timeout", async () => {
    const { context, clock } = await startJobs({ action: "hang up" }, Number.POSITIVE_INFINITY);
    await expect(JobInvoke.create(inputsOf({ timeout: 10 }), context)).rejects.toThrow("The job was cancelled.");
    expect(clock.now()).toBeLessThanOrEqual(10_000);
  });

  test("a service that fails until the end of customTimeouts is named by the error, beside the end of the job", async () => {
    const { context, clock } = await startJobs(json({ message: "starting" }, 503), Number.POSITIVE_INFINITY);
    await expect(JobInvoke.create(inputsOf(), { ...context, timeout: 20_000 })).rejects.toThrow(
      /unavailable after retries: starting[\s\S]*The job was cancelled\.[\s\S]*create timed out after 20 s/,
    );
    expect(clock.now()).toBeLessThanOrEqual(20_000);
  });
});

describe("while a rollout waits for workers of the new version", () => {
  /** Follows a rollout whose service fails until a time, ms, and then has a worker of the new version. */
  async function startRollout(fault: Behaviour, end: number, timeLimit: number) {
    const api = await startScriptedService(
      () =>
        api.clock.now() < end
          ? fault
          : json({ workers: [{ id: "w", status: "RUNNING", isStale: false }], summary: {}, endpointVersion: 2 }),
      "v2",
    );
    const deadline = { remaining: () => timeLimit - api.clock.now(), extend: () => {} };
    return { ...api, rollout: followRollout("e1", undefined, deadline, api.context) };
  }

  test.each(faults)("a service that %s for 25 s does not end the wait", async (_how, fault) => {
    const { rollout } = await startRollout(fault, 25_000, 60_000);
    await rollout.waitUntilReady();
    expect(rollout.text()).toBe("1 of 1 workers on version 2");
  });

  test("a service that fails for longer than the verification may take ends it", async () => {
    const { rollout, clock } = await startRollout({ action: "hang up" }, Number.POSITIVE_INFINITY, 10_000);
    await expect(rollout.waitUntilReady()).rejects.toMatchObject({ name: "ApiError" });
    expect(clock.now()).toBeLessThanOrEqual(10_000);
  });
});
