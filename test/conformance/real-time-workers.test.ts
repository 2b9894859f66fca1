import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "serverless-compute-api/clock";
import { describe, expect, type TestContext, test, vi } from "vitest";
import { scratchFolder } from "../support/folders";
import type { JobApi } from "../support/job-api";
import { at, expectResponse, pollUntil } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { joinAsWorker } from "./support/raw-worker";
import { comesAfter, expectPassed } from "./support/real-time";

// Concurrent, because each test mostly waits. Concurrent tests must use the hooks and assertions of their own context.
vi.setConfig({ maxConcurrency: 20 });

/** Timings of workers that a test impersonates. */
const shortTimings = {
  takeHold: 600,
  stopHold: 500,
  pingSilence: 700,
  takeSilence: 700,
  secondLook: 100,
  lostJob: 500,
};
/** Timings of workers that the service starts. A loaded machine starts them late, so no short timing depends on their start. */
const started = { pingInterval: 1234, stopGrace: 500, killGrace: 600, startBackoff: 300 };
/** Timings of programs that never request a job. */
const mute = { takeSilence: 400, startLimit: 700, secondLook: 100, startBackoff: 50 };
/** A start backoff that only its limit shortens. */
const capped = { startBackoff: 100_000, startBackoffMax: 300 };

/** Image of a worker that never requests a job. */
const deaf = "conformance/deaf:1";
const deafProgram = fileURLToPath(new URL("programs/deaf.mjs", import.meta.url));
const images = { [deaf]: `"${process.execPath}" "${deafProgram}"` };

async function useService(timings: Record<string, number>) {
  const target = await useTarget({ clock: systemClock, timings, images });
  const account = useAccount(target);
  return {
    target,
    account,
    /** The job API of an endpoint whose workers never request a job. */
    async deafJobs(context: TestContext, fields: object, env: Record<string, string> = {}): Promise<JobApi> {
      target.localOnly(context, "the program and the waits are settings of the local service");
      const entries = Object.entries(env).map(([key, value]) => ({ key, value }));
      return account.jobsOn("echo", context, { workersMax: 1, ...fields }, { imageName: deaf, env: entries });
    },
  };
}
const [foreign, local, unready] = [await useService(shortTimings), await useService(started), await useService(mute)];
const patient = await useService(capped);

const joined = (context: TestContext) => joinAsWorker(foreign.target, foreign.account, context);
const workers = ({ json }: { json: unknown }, phase: string): number => Number(at(json, "workers", phase));

describe.concurrent("Time-based rules of workers in real time", () => {
  test("takeHold: a request for a job is held for that long", async (context) => {
    const worker = await joined(context);
    const startTime = Date.now();
    expectResponse(await worker.take(), 204);
    expectPassed(startTime, shortTimings.takeHold, "job-take");
  });

  test("stopHold: a request for jobs to stop is held for that long", async (context) => {
    const worker = await joined(context);
    const startTime = Date.now();
    expectResponse(await worker.stop(), 204);
    expectPassed(startTime, shortTimings.stopHold, "job-stop");
  });

  test("pingSilence and secondLook: the job of a worker that stops pinging is requeued", async (context) => {
    const worker = await joined(context);
    const id = await worker.jobs.submit({});
    expectResponse(await worker.take(), 200, { id });
    const startTime = Date.now();
    await worker.ping(id);
    const again = ({ json }: { json: unknown }): boolean => at(json, "retries") === 1;
    const wait = shortTimings.pingSilence + shortTimings.secondLook;
    expectResponse(await comesAfter(startTime, wait, () => worker.jobs.status(id), again), 200, { status: "IN_QUEUE" });
  });

  test("takeSilence: an idle worker that requests no more jobs is removed", async (context) => {
    const worker = await joined(context);
    const startTime = Date.now();
    expectResponse(await worker.take(), 204);
    const wait = shortTimings.takeHold + shortTimings.takeSilence + shortTimings.secondLook;
    const noWorkers = (response: { json: unknown }): boolean =>
      workers(response, "idle") + workers(response, "ready") === 0;
    await comesAfter(startTime, wait, () => worker.jobs.call("GET", "/health"), noWorkers);
  });

  test("lostJob: a job is requeued when its worker requests another job", async (context) => {
    const worker = await joined(context);
    const id = await worker.jobs.submit({});
    const startTime = Date.now();
    expectResponse(await worker.take(), 200, { id });
    await comesAfter(
      startTime,
      shortTimings.lostJob,
      () => worker.take(),
      ({ status }) => status === 200,
    );
    expectResponse(await worker.jobs.status(id), 200, { status: "IN_PROGRESS", retries: 1 });
  });

  test("pingInterval: workers receive the ping interval", async (context) => {
    const jobs = await local.account.jobsOn("env", context);
    local.target.localOnly(context, "the interval is a setting of the local service");
    const response = await jobs.runsync({ names: ["RUNPOD_PING_INTERVAL"] });
    expectResponse(response, 200, { output: { RUNPOD_PING_INTERVAL: String(started.pingInterval) } });
  });

  test("stopGrace: a worker that continues a cancelled job is replaced after that long", async (context) => {
    local.target.localOnly(context, "stopGrace is a setting of the local service");
    const jobs = await local.account.jobsOn("slow", context);
    const id = await jobs.submit({ ms: 120_000 });
    await jobs.reaches(id, "IN_PROGRESS");
    const startTime = Date.now();
    await jobs.cancel(id);
    await jobs.reaches(await jobs.submit({ ms: 0 }), "COMPLETED");
    expectPassed(startTime, started.stopGrace, "the end of the next job");
  });

  test("killGrace: a worker that ignores SIGTERM is killed after that long", async (context) => {
    const file = join(scratchFolder(context.onTestFinished), "pid");
    const pid = (): number => {
      try {
        return Number(readFileSync(file, "utf8"));
      } catch {
        return 0;
      }
    };
    const runs = (): boolean => {
      try {
        return process.kill(pid(), 0);
      } catch {
        return false;
      }
    };
    const jobs = await local.deafJobs(context, { workersMin: 1 }, { FILE: file });
    await context.expect.poll(pid).toBeGreaterThan(0);
    const startTime = Date.now();
    await local.account.rest("PATCH", `/endpoints/${jobs.id}`, { workersMin: 0, workersMax: 0 });
    await context.expect.poll(runs).toBe(false);
    expectPassed(startTime, started.killGrace, "the end of the worker");
  });

  test("startBackoff: the wait before the next worker doubles with each crash", async (context) => {
    local.target.localOnly(context, "startBackoff is a setting of the local service");
    const file = join(scratchFolder(context.onTestFinished), "attempts");
    const jobs = await local.account.jobsOn("crash", context);
    // The third crash fails the job, after two waits.
    await jobs.reaches(await jobs.submit({ file }), "FAILED");
    const attempts = readFileSync(file, "utf8").trim().split("\n").map(Number);
    expect(attempts).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = attempts;
    // Each attempt records its time before it crashes. Only lower bounds are asserted, because starts take time;
    // test/unit/service/workers/backoff.test.ts asserts the exact waits.
    for (const [wait, gap] of [[1, second - first] as const, [2, third - second] as const])
      expect(gap, `the start after crash ${wait}`).toBeGreaterThanOrEqual(wait * started.startBackoff - 5);
  });

  test("startBackoffMax: the wait before the next worker never exceeds the limit", async (context) => {
    patient.target.localOnly(context, "startBackoffMax is a setting of the local service");
    const jobs = await patient.account.jobsOn("crash", context);
    const startTime = Date.now();
    // The third crash fails the job, after two waits that would take 5 minutes without the limit, longer than this test may take.
    await jobs.reaches(await jobs.submit({}), "FAILED");
    expectPassed(startTime, 2 * capped.startBackoffMax, "the third crash");
  });

  test("idleTimeout of 1 s: a worker without a job ends after 1 s", async (context) => {
    const jobs = await local.account.jobsOn("echo", context, { idleTimeout: 1 });
    const startTime = Date.now();
    expectResponse(await jobs.runsync({}), 200, { status: "COMPLETED" });
    const noWorkers = (response: { json: unknown }): boolean =>
      workers(response, "idle") + workers(response, "running") === 0;
    await comesAfter(startTime, 1000, () => jobs.call("GET", "/health"), noWorkers);
  });

  test("scalerValue of 1 s (QUEUE_DELAY): a job queued for 1 s starts another worker", async (context) => {
    const scaling = { workersMax: 2, scalerType: "QUEUE_DELAY", scalerValue: 1 };
    const jobs = await local.account.jobsOn("slow", context, scaling);
    await jobs.reaches(await jobs.submit({ ms: 120_000 }), "IN_PROGRESS");
    const record = await jobs.reaches(await jobs.submit({ ms: 0 }), "COMPLETED");
    expect(record["delayTime"]).toBeGreaterThanOrEqual(1000);
  });

  test("takeSilence: a worker that has not requested a job is unhealthy after that long", async (context) => {
    const startTime = Date.now();
    const jobs = await foreign.deafJobs(context, { workersMin: 1 });
    await comesAfter(
      startTime,
      shortTimings.takeSilence,
      () => jobs.call("GET", "/health"),
      (response) => workers(response, "unhealthy") === 1,
    );
  });

  const three = "startLimit: three workers that ask for no job for that long fail the jobs that wait";
  test(three, { tags: ["reading:stays-queued"] }, async (context) => {
    const jobs = await unready.deafJobs(context, {});
    const startTime = Date.now();
    const id = await jobs.submit({});
    const record = await jobs.reaches(id, "FAILED");
    expectPassed(startTime, 3 * (mute.startLimit + mute.secondLook), "the end of the third worker");
    expect(record["error"]).toContain("it did not request a job within 0.7 s of its start");
    await pollUntil(
      () => jobs.call("GET", "/health"),
      (response) => workers(response, "initializing") + workers(response, "unhealthy") === 0,
    );
  });
});
