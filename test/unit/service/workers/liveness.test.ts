import { describe, expect, test } from "vitest";
import { defaultTimings as timings } from "../../../../service/timings";
import { checkLiveness } from "../../../../service/workers/liveness";
import type { Worker } from "../../../../service/workers/worker";
import { phaseOf } from "../../../../service/workers/worker-record";
import { externalWorker, managedWorkers, runningProgram, start } from "./support/managed-worker";

/** A worker without a job that requested its last job at `start`. */
function idleWorker(): Worker {
  const { worker } = externalWorker();
  worker.polled();
  return worker;
}
function workerWithJob(): Worker {
  const worker = idleWorker();
  worker.assigned("j", false);
  return worker;
}

/** Checks twice, so that a lasting silence is detected. */
function checkAt(worker: Worker, now: number) {
  checkLiveness(worker, now, timings);
  return checkLiveness(worker, now + timings.secondLook, timings);
}

describe("a worker that starts", () => {
  test("is initializing for a minute, then unhealthy, and lost at the start limit", () => {
    const { worker } = externalWorker();
    expect(phaseOf(worker, start + 59_999, timings)).toBe("initializing");
    expect(phaseOf(worker, start + 60_000, timings)).toBe("unhealthy");
    expect(checkLiveness(worker, start + 60_000, timings)).toEqual({
      kind: "healthy",
      checkAt: start + timings.startLimit,
    });
    expect(checkAt(worker, start + timings.startLimit)).toMatchObject({
      kind: "lost",
      reason: expect.stringContaining("420 s"),
    });
  });
});

describe("a worker without a job", () => {
  test("is healthy while its request is pending, and lost after a minute without a request", () => {
    const polling = idleWorker();
    polling.pollOpened();
    expect(checkAt(polling, start + 10_000_000).kind).toBe("healthy");
    expect(checkAt(idleWorker(), start + 59_000 - timings.secondLook).kind).toBe("healthy");
    expect(checkAt(idleWorker(), start + 60_000).kind).toBe("lost");
  });
});

describe("a worker with a job", () => {
  test("may be silent forever if it sent no heartbeat; its process and the job's timeout are monitored", () => {
    expect(checkAt(workerWithJob(), start + 10_000_000).kind).toBe("healthy");
  });

  test("is lost when its heartbeats stop", () => {
    const worker = workerWithJob();
    worker.heartbeat([], undefined);
    expect(checkLiveness(worker, start + timings.pingSilence - 1, timings)).toEqual({
      kind: "healthy",
      checkAt: start + timings.pingSilence,
    });
    expect(checkAt(worker, start + timings.pingSilence).kind).toBe("lost");
  });

  test("is not lost at the first check after the machine slept", async () => {
    const { worker, setTime } = externalWorker();
    worker.polled();
    worker.assigned("j", false);
    worker.heartbeat([], undefined);
    const sleep = 8 * 3600 * 1000;
    expect(checkLiveness(worker, start + sleep, timings).kind).toBe("healthy");
    setTime(start + sleep + 100);
    worker.seen();
    expect(checkLiveness(worker, start + sleep + timings.secondLook, timings).kind).toBe("healthy");
    expect(worker.silentSince).toBeUndefined();
  });

  test("is hung if it continues a job after the request to stop it", () => {
    const worker = workerWithJob();
    worker.stopRequested("j", true);
    expect(checkLiveness(worker, start + timings.stopGrace - 1, timings)).toMatchObject({
      kind: "healthy",
      checkAt: start + timings.stopGrace,
    });
    expect(checkLiveness(worker, start + timings.stopGrace, timings)).toMatchObject({
      kind: "hung",
      reason: expect.stringContaining("job j"),
    });
  });
});

describe("the reason of a lost worker is", () => {
  const server = new Promise<never>(() => undefined);
  const cases: [reason: string, server: boolean, change: (worker: Worker) => void][] = [
    ["did not request a job within 420 s of its start", false, () => undefined],
    ["was not healthy within 420 s of its start", true, () => undefined],
    ["did not request a job for 60 s", false, (worker) => worker.polled()],
    ["was unhealthy for 60 s", true, (worker) => worker.passedHealthCheck()],
    [
      "sent no calls for 30 s",
      false,
      (worker) => {
        worker.polled();
        worker.heartbeat([], undefined);
        worker.pollOpened();
      },
    ],
    [
      "did not return within 30 s of the service's start",
      false,
      (worker) => worker.reassigned("j", false, timings.returnGrace),
    ],
  ];
  test.each(cases)("%s", (reason, isServer, change) => {
    const { process } = runningProgram(isServer ? { server } : {});
    const worker = managedWorkers().add("w", process);
    change(worker);
    expect(checkAt(worker, start + timings.startLimit)).toEqual({ kind: "lost", reason });
  });
});

test("a worker whose image is pulled has no time limit", () => {
  const { process } = runningProgram({ started: new Promise<void>(() => undefined) });
  expect(checkAt(managedWorkers().add("w", process), start + 10_000_000).kind).toBe("healthy");
});

test("a worker that must return is not hung, and a worker that must stop jobs is checked at the first deadline", () => {
  const { worker, setTime } = externalWorker();
  worker.reassigned("a", false, 10_000);
  worker.stopRequested("a", false);
  expect(checkLiveness(worker, start + timings.stopGrace, timings)).toEqual({
    kind: "healthy",
    checkAt: start + 10_000,
  });
  worker.seen();
  setTime(start + 1000);
  worker.stopRequested("b", false);
  expect(checkLiveness(worker, start, timings)).toMatchObject({ checkAt: start + timings.stopGrace });
});
