import { describe, expect, test } from "vitest";
import { defaultTimings as timings } from "../../../../service/timings";
import { crashProblemOf, lostJobError, problemOf, startProblemOf } from "../../../../service/workers/problems";
import type { ProcessEnd, WorkerProcess } from "../../../../service/workers/runtimes/runtime";
import type { ManagedWorker } from "../../../../service/workers/worker";
import { managedWorkers, runningProgram, start } from "./support/managed-worker";

const server = Promise.resolve({ host: "127.0.0.1", port: 80, healthPort: 80, healthPath: "/ping" });
const obstacle = () => "no request arrived";
const endOf = (...lastErrors: string[]): ProcessEnd => ({
  description: "ended with exit code 3",
  clean: false,
  lastErrors,
});

function useProblems(of: Partial<WorkerProcess> = {}) {
  const pool = managedWorkers();
  const worker = pool.add("w", runningProgram(of).process);
  const group = pool.registry.open("e");
  if (!group) throw new Error("the endpoint does not exist");
  return { ...pool, worker, group, problem: () => problemOf(group, pool.clock.now(), timings) };
}

describe("the problem of a worker that does not start", () => {
  const doNotStart = 'workers of the image "acme/x:1" do not start: the last one ';
  const nothing = (): void => undefined;
  const cases: [string, Partial<WorkerProcess>, (worker: ManagedWorker) => void, ProcessEnd, string][] = [
    ["its end", {}, nothing, endOf(), "ended with exit code 3, before it requested a job"],
    ["the missing health check", { server }, nothing, endOf(), "ended with exit code 3, before it was healthy"],
    [
      "no event of a program that never ran",
      { started: new Promise(nothing) },
      nothing,
      endOf(),
      "ended with exit code 3",
    ],
    [
      "no obstacle of a program that ended itself",
      { obstacle },
      nothing,
      endOf(),
      "ended with exit code 3, before it requested a job",
    ],
    [
      "no obstacle after a ping",
      { obstacle },
      (worker) => {
        worker.heartbeat([], undefined);
        worker.kill("was silent");
      },
      endOf(),
      "was stopped by the service because it was silent, before it requested a job",
    ],
    [
      "the reason of the service, and an obstacle",
      { obstacle },
      (worker) => worker.kill("was silent"),
      endOf(),
      "was stopped by the service because it was silent, before it requested a job; no request arrived",
    ],
    [
      "the error that the worker reported",
      {},
      (worker) => worker.startFailed("no model"),
      endOf(),
      "ended with exit code 3, because no model",
    ],
    [
      "its last lines without secrets",
      {},
      nothing,
      endOf("loads", "a secret"),
      "ended with exit code 3, before it requested a job\nIts last lines:\nloads\na ***",
    ],
    ...[
      "TypeError: no",
      "Error [CODE]: no",
      "ModuleNotFoundError: no",
      "requests.exceptions.Timeout: no",
      "Uncaught Error: no",
    ].map((line): [string, object, () => void, ProcessEnd, string] => [
      `the error in its last lines, such as ${line}`,
      {},
      nothing,
      endOf("  at x", line, "OtherError: later"),
      `ended with exit code 3, before it requested a job: ${line}\nIts last lines:\n  at x\n${line}\nOtherError: later`,
    ]),
  ];
  test.each(cases)("contains %s", (_name, process, change, end, text) => {
    const { worker } = useProblems(process);
    change(worker);
    expect(startProblemOf(worker, end)).toBe(`${doNotStart}${text}`);
  });
});

describe("the problem of a worker that runs", () => {
  test.each([
    [
      "jobs",
      {},
      'workers of the image "acme/x:1" do not request jobs: w has run for 61 s; its program must take jobs, as the SDK\'s serverless.start does',
    ],
    [
      "requests",
      { server },
      'workers of the image "acme/x:1" are not healthy: w has run for 61 s; its program must return 200 to health checks',
    ],
    [
      "requests, with its last health check and an obstacle",
      { server, obstacle },
      'workers of the image "acme/x:1" are not healthy: w has run for 61 s; GET /ping returned 500; its program must return 200 to health checks; no request arrived',
    ],
  ])("is its silence, if it never was ready for %s", (_work, process, text) => {
    const { worker, setTime, problem } = useProblems(process);
    if ("obstacle" in process) worker.failedHealthCheck("GET /ping returned 500");
    setTime(start + timings.takeSilence - 1);
    expect(problem()).toBeUndefined();
    setTime(start + 61_000);
    expect(problem()).toBe(text);
    worker.polled();
    expect(problem()).toBeUndefined();
  });

  test("is the reason why it waits, until its first call", () => {
    const waiting = () => ({ reason: "no node has room", lacksStock: true });
    for (const call of [
      (worker: ManagedWorker) => worker.polled(),
      (worker: ManagedWorker) => worker.heartbeat([], undefined),
    ]) {
      const { worker, problem } = useProblems({ waiting });
      expect(problem()).toBe("no node has room");
      call(worker);
      expect(problem()).toBeUndefined();
    }
  });
});

test("a start problem precedes a crash", () => {
  const { group, problem } = useProblems();
  group.crashProblem = "workers crash";
  group.startProblem = "no engine";
  expect(problem()).toBe("no engine");
  group.startProblem = undefined;
  expect(problem()).toBe("workers crash");
});

test("a crash during a job is described for the endpoint, and for the job", () => {
  const { worker } = useProblems();
  const end = "the last one ended with exit code 3 while it ran a job\nIts last lines:\nout of memory";
  expect(crashProblemOf(worker, endOf("out of memory"))).toBe(`workers of the image "acme/x:1" crash: ${end}`);
  worker.kill("was silent");
  expect(lostJobError(worker, endOf())).toBe(
    "the worker was stopped by the service because it was silent while it ran the job",
  );
});
