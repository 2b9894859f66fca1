import { describe, expect, test } from "vitest";
import { defaultTimings as timings } from "../../../../service/jobs/timings";
import { ShortLivedMap } from "../../../../service/short-lived-map";
import { createWorkerRegistry, phaseOf, type Worker } from "../../../../service/workers/registry";
import { checkWorker } from "../../../../service/workers/watch";

const start = 1_000_000;
const workerWith = (changes: Partial<Worker> = {}): Worker =>
  Object.assign(createWorkerRegistry().add({ id: "w", endpointId: "e", redact: String, now: start }), changes);
const idleTimes = { firstTakeAt: start, lastTakeAt: start };
const withJob = {
  ...idleTimes,
  jobs: new ShortLivedMap([["j", { since: start, lowPriority: false, recovered: false }]]),
};

/** Checks twice, so that a lasting silence is detected. */
function checkAt(worker: Worker, now: number) {
  checkWorker(worker, now, timings);
  return checkWorker(worker, now + timings.secondLook, timings);
}

describe("a worker that starts", () => {
  test("is initializing for a minute, then unhealthy, and lost at the start limit", () => {
    const worker = workerWith();
    expect(phaseOf(worker, start + 59_999, timings)).toBe("initializing");
    expect(phaseOf(worker, start + 60_000, timings)).toBe("unhealthy");
    expect(checkWorker(worker, start + 60_000, timings)).toEqual({
      kind: "healthy",
      reviewAt: start + timings.startLimit,
    });
    expect(checkAt(worker, start + timings.startLimit)).toMatchObject({
      kind: "lost",
      reason: expect.stringContaining("420 s"),
    });
  });
});

describe("a worker without a job", () => {
  test("is healthy while its request is pending, and lost after a minute without a request", () => {
    expect(checkAt(workerWith({ ...idleTimes, openTakes: 1 }), start + 10_000_000).kind).toBe("healthy");
    expect(checkAt(workerWith(idleTimes), start + 59_000 - timings.secondLook).kind).toBe("healthy");
    expect(checkAt(workerWith(idleTimes), start + 60_000).kind).toBe("lost");
  });
});

describe("a worker with a job", () => {
  test("may be silent forever if it never pinged; its process and the job's timeout are monitored", () => {
    expect(checkAt(workerWith(withJob), start + 10_000_000).kind).toBe("healthy");
  });

  test("is lost when its pings stop", () => {
    const worker = workerWith({ ...withJob, hasPinged: true });
    expect(checkWorker(worker, start + timings.pingSilence - 1, timings)).toEqual({
      kind: "healthy",
      reviewAt: start + timings.pingSilence,
    });
    expect(checkAt(worker, start + timings.pingSilence).kind).toBe("lost");
  });

  test("is not lost at the first check after the machine slept", () => {
    const worker = workerWith({ ...withJob, hasPinged: true });
    const waking = start + 8 * 3600 * 1000;
    expect(checkWorker(worker, waking, timings).kind).toBe("healthy");
    worker.lastSeenAt = waking + 100;
    expect(checkWorker(worker, waking + timings.secondLook, timings).kind).toBe("healthy");
    expect(worker.silentSince).toBeUndefined();
  });

  test("is hung if it continues a job after the request to stop it", () => {
    const worker = workerWith({ ...idleTimes, stopping: new ShortLivedMap([["j", { since: start, sent: true }]]) });
    expect(checkWorker(worker, start + timings.stopGrace - 1, timings)).toMatchObject({
      kind: "healthy",
      reviewAt: start + timings.stopGrace,
    });
    expect(checkWorker(worker, start + timings.stopGrace, timings)).toMatchObject({
      kind: "hung",
      reason: expect.stringContaining("job j"),
    });
  });
});
