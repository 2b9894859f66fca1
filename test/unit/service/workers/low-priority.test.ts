import { expect, test } from "vitest";
import { defaultTimings } from "../../../../service/timings";
import { planWorkers } from "../../../../service/workers/scaler";
import { scalingState } from "../../../../service/workers/scaling-view";
import { externalWorker, start } from "./support/managed-worker";

const rules = { workersMin: 0, workersMax: 3, idleTimeout: 5000, scalerType: "REQUEST_COUNT", scalerValue: 1 } as const;

/** Number of workers to start in addition to a worker with these running jobs; `true` means low priority. */
function startsWith(waiting: number, running: boolean[]): number {
  const { worker } = externalWorker();
  worker.polled();
  for (const [index, lowPriority] of running.entries()) worker.assigned(`j${index}`, lowPriority);
  const queued = Array.from({ length: waiting }, () => ({ queuedAt: start }));
  return planWorkers(rules, scalingState(queued, [worker], start, defaultTimings)).start;
}

test("running jobs of low priority start no worker", () => {
  expect(startsWith(0, [true, true, true])).toBe(0);
  expect(startsWith(0, [false, true, false])).toBe(1);
});

test("a job queued behind a job of low priority starts a worker instead of waiting", () => {
  expect(startsWith(1, [true])).toBe(1);
  expect(startsWith(1, [])).toBe(0);
});
