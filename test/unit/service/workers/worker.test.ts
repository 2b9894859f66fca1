import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { defaultTimings as timings } from "../../../../service/timings";
import { createDispatcher } from "../../../../service/workers/dispatcher";
import type { Worker } from "../../../../service/workers/worker";
import { phaseOf } from "../../../../service/workers/worker-record";
import { useJobs } from "../queue/support/queue-rig";
import { externalWorker, managedWorkers, runningProgram, start } from "./support/managed-worker";

const later = start + 5000;

/** A verb after others, the phase that results, and whether the verb emits `changed`. */
const verbs: [name: string, before: (worker: Worker) => void, verb: (worker: Worker) => void, string, boolean][] = [
  ["the first poll", () => undefined, (worker) => worker.polled(), "idle", true],
  ["another poll", (worker) => worker.polled(), (worker) => worker.polled(), "idle", false],
  ["an open poll", (worker) => worker.polled(), (worker) => worker.pollOpened(), "idle", false],
  ["the end of a poll", (worker) => worker.pollOpened(), (worker) => worker.pollClosed(), "initializing", true],
  ["the first passed health check", () => undefined, (worker) => worker.passedHealthCheck(), "idle", true],
  [
    "another passed health check",
    (worker) => worker.passedHealthCheck(),
    (worker) => worker.passedHealthCheck(),
    "idle",
    false,
  ],
  [
    "a failed health check at the start",
    () => undefined,
    (worker) => worker.failedHealthCheck("GET /ping returned 500"),
    "initializing",
    false,
  ],
  [
    "a failed health check of a healthy worker",
    (worker) => worker.passedHealthCheck(),
    (worker) => worker.failedHealthCheck("GET /ping returned 500"),
    "unhealthy",
    true,
  ],
  [
    "another failed health check",
    (worker) => {
      worker.passedHealthCheck();
      worker.failedHealthCheck("GET /ping returned 500");
    },
    (worker) => worker.failedHealthCheck("GET /ping returned 503"),
    "unhealthy",
    false,
  ],
  [
    "a recovery",
    (worker) => {
      worker.passedHealthCheck();
      worker.failedHealthCheck("GET /ping returned 500");
    },
    (worker) => worker.passedHealthCheck(),
    "idle",
    true,
  ],
  ["the first heartbeat", () => undefined, (worker) => worker.heartbeat([], undefined), "initializing", true],
  [
    "another heartbeat",
    (worker) => worker.heartbeat([], undefined),
    (worker) => worker.heartbeat([], undefined),
    "initializing",
    false,
  ],
  [
    "a report that the worker is unhealthy",
    (worker) => worker.polled(),
    (worker) => worker.heartbeat([], "out of memory"),
    "unhealthy",
    true,
  ],
  ["a job", (worker) => worker.polled(), (worker) => worker.assigned("j", false), "running", false],
  [
    "the end of a job",
    (worker) => {
      worker.polled();
      worker.assigned("j", false);
    },
    (worker) => worker.released("j"),
    "idle",
    true,
  ],
  [
    "a job to stop",
    (worker) => {
      worker.polled();
      worker.assigned("j", false);
    },
    (worker) => worker.stopRequested("j", false),
    "running",
    true,
  ],
  [
    "a heartbeat without a job to stop",
    (worker) => {
      worker.polled();
      worker.stopRequested("j", true);
      worker.heartbeat(["j"], undefined);
    },
    (worker) => worker.heartbeat(["other"], undefined),
    "idle",
    false,
  ],
  ["a lease", (worker) => worker.passedHealthCheck(), (worker) => worker.leased(), "running", true],
  [
    "the end of a lease",
    (worker) => {
      worker.passedHealthCheck();
      worker.leased();
    },
    (worker) => worker.unleased(),
    "idle",
    true,
  ],
  ["an outdated endpoint", (worker) => worker.polled(), (worker) => worker.becameOutdated(), "idle", false],
  ["the end of job assignments", (worker) => worker.polled(), (worker) => worker.drain("is outdated"), "idle", false],
];

describe("the state of a worker", () => {
  test.each(verbs)("%s", (_name, before, verb, phase, emits) => {
    const { worker, changes } = externalWorker();
    before(worker);
    const previousChanges = changes();
    verb(worker);
    expect(phaseOf(worker, later, timings)).toBe(phase);
    expect(changes() - previousChanges).toBe(emits ? 1 : 0);
  });

  test("is idle since the end of its last job or request", () => {
    const { worker, setTime } = externalWorker();
    worker.polled();
    for (const jobId of ["a", "b"]) worker.assigned(jobId, false);
    setTime(later);
    worker.released("a");
    expect(worker.idleSince).toBe(start);
    setTime(later + 1);
    worker.released("b");
    expect(worker.idleSince).toBe(later + 1);
  });

  test("a request to stop a job is sent once", () => {
    const { worker } = externalWorker();
    worker.stopRequested("piped", true);
    worker.stopRequested("polled", false);
    expect(worker.sendStops()).toEqual(["polled"]);
    expect(worker.sendStops()).toEqual([]);
    expect([...worker.stopping.keys()]).toEqual(["piped", "polled"]);
  });

  test("a worker from before the service's start must return, and keeps its jobs when it does", () => {
    const { worker, setTime, changes } = externalWorker();
    worker.reassigned("j", false, 10_000);
    expect(worker.returnDeadline).toBe(start + 10_000);
    setTime(later);
    expect(worker.seen()).toBe(true);
    expect(worker.seen()).toBe(false);
    expect(worker).toMatchObject({ returnDeadline: undefined, lastSeenAt: later, lastReadyAt: later });
    expect([...worker.jobs.keys()]).toEqual(["j"]);
    expect(changes()).toBe(1);
  });

  test("the first reason of its end remains", () => {
    const { worker } = externalWorker();
    worker.drain();
    expect(worker.endReason).toBeUndefined();
    worker.drain("is outdated");
    worker.kill("was silent", "worker");
    expect(worker).toMatchObject({ endReason: "is outdated", loss: "worker", draining: true, stopped: true });
  });

  test("a worker from before the service's start keeps the deadline of its first job", () => {
    const { worker, setTime } = externalWorker();
    worker.reassigned("a", false, 10_000);
    setTime(later);
    worker.reassigned("b", false, 10_000);
    expect(worker).toMatchObject({ returnDeadline: start + 10_000, stage: "ready" });
    expect([...worker.jobs.values()].every(({ recovered }) => recovered)).toBe(true);
  });

  test("a stop is requested once, and a kill of a stopped worker kills its program", () => {
    const { process, calls } = runningProgram();
    const worker = managedWorkers().add("w", process);
    worker.stop("is outdated", 3000);
    worker.stop("is outdated", 3000);
    worker.kill("was silent", "worker");
    worker.kill("was silent", "result");
    expect(calls).toEqual(["stop within 3000 ms", "kill", "kill"]);
    expect(worker).toMatchObject({ endReason: "is outdated", loss: "worker", stopped: true });
  });

  test("the start of its program, not the pull of its image, is its start", async () => {
    let resolve: () => void = () => undefined;
    const started = new Promise<void>((resolveStarted) => {
      resolve = resolveStarted;
    });
    const pool = managedWorkers();
    const worker = pool.add("w", runningProgram({ started }).process);
    expect(worker.stage).toBe("preparing");
    pool.setTime(later);
    resolve();
    await started;
    expect(worker).toMatchObject({ stage: "starting", startedAt: later });
    expect(pool.changes()).toBe(1);
  });

  test("an unmonitored pipe has a poll while it waits for a job", () => {
    const { worker, changes } = externalWorker();
    worker.pollOpened();
    worker.pipePollClosed();
    expect(worker.openPolls).toBe(0);
    expect(changes()).toBe(0);
  });

  test("a health check that fails before the worker is healthy is only its description", () => {
    const { worker } = externalWorker();
    worker.failedHealthCheck("GET /ping returned 500");
    expect(worker).toMatchObject({ failedCheck: "GET /ping returned 500", unhealthyReason: undefined });
  });

  test("a success is an event of its own", () => {
    const { registry, worker, changes } = externalWorker();
    const succeeded: unknown[] = [];
    registry.events.on("succeeded", ({ id, hasSucceeded }) => succeeded.push([id, hasSucceeded]));
    worker.succeeded();
    expect(succeeded).toEqual([["w", true]]);
    expect(changes()).toBe(0);
  });

  test("cannot be changed without a verb, as the compiler checks", () => {
    const change = (worker: Worker): void => {
      // @ts-expect-error a readonly property
      worker.outdated = true;
      // @ts-expect-error a readonly property
      worker.openPolls++;
      // @ts-expect-error a readonly map
      worker.jobs.delete("j");
      // @ts-expect-error a readonly map
      worker.stopping.clear();
      for (const job of worker.jobs.values()) {
        // @ts-expect-error a readonly property
        job.recovered = true;
      }
    };
    expect(change).toBeTypeOf("function");
  });
});

test("a poll for jobs to stop is held for pollHold", async () => {
  const { jobs, events, clock, steady } = useJobs();
  const { registry, worker } = externalWorker();
  const faults = { jobFailure: () => undefined, stripsEmptyInput: () => false, crashesWorker: () => false };
  const log = pino({ level: "silent" });
  const dispatcher = createDispatcher({ jobs, events, registry, clock: steady, timings, log, faults });
  const ended: string[][] = [];
  void dispatcher.pollStops(worker, new AbortController().signal).then((ids) => ended.push(ids));
  await clock.advance(timings.pollHold - 1);
  expect(ended).toEqual([]);
  await clock.advance(1);
  await expect.poll(() => ended).toEqual([[]]);
});
