import fc from "fast-check";
import { expect, test } from "vitest";
import { type QueuedJob, toQueued } from "../../../../service/jobs/job";
import { createOrderedQueue } from "../../../../service/jobs/ordered-queue";
import { createReadyQueue, type ReadyQueue, type WaitingWorker } from "../../../../service/jobs/ready-queue";
import { ManualClock } from "../../../support/manual-clock";
import { submissionAt } from "./support/jobs-rig";

const job = (id: string, place = 0, lowPriority = false): QueuedJob =>
  toQueued(submissionAt(0, { id, lowPriority }), place, place, new ManualClock());
function filled(...jobs: QueuedJob[]): ReadyQueue {
  const queue = createReadyQueue();
  for (const queuedJob of jobs) queue.add(queuedJob);
  return queue;
}
function shiftAll(queue: ReadyQueue): string[] {
  const ids: string[] = [];
  for (let next = queue.shift(); next; next = queue.shift()) ids.push(next.id);
  return ids;
}
const waiter = (workerId: string): WaitingWorker => ({ workerId, deliver: () => undefined });

test("jobs of low priority are taken like others and do not start workers", () => {
  const queue = filled(job("low", 1, true), job("normal", 2), job("lower", 3, true));
  expect([...queue.jobsForScaling].map(({ id }) => id)).toEqual(["normal"]);
  expect(shiftAll(queue)).toEqual(["low", "normal", "lower"]);
  expect([...queue.jobsForScaling]).toEqual([]);
});

test("random adds, takes and removes keep a queue in order, with each job once", () => {
  const step = fc.record({ what: fc.constantFrom("add", "add", "shift", "remove"), id: fc.nat(20), place: fc.nat(40) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = createOrderedQueue<{ id: number; place: number }>();
      let model: { id: number; place: number }[] = [];
      for (const { what, id, place } of steps) {
        const known = model.find((entry) => entry.id === id);
        if (what === "shift") expect(queue.shift()?.place).toBe(model.shift()?.place);
        else if (known) queue.remove(known);
        if (what === "remove" || what === "add") model = model.filter((entry) => entry !== known);
        if (what === "add") {
          const added = { id, place };
          queue.add(added);
          model = [...model, added].sort((a, b) => a.place - b.place);
        }
        expect([...queue].map((entry) => entry.place)).toEqual(model.map((entry) => entry.place));
        expect([queue.size, queue.first?.place]).toEqual([model.length, model[0]?.place]);
      }
    }),
  );
});

/** Returns the CPU time in ms to fill a queue, cancel some of its jobs and take the others. */
function workOff(count: number): number {
  const before = process.cpuUsage().user;
  const jobs = Array.from({ length: count }, (_, place) => job(`job-${place}`, place, place % 2 === 0));
  const queue = createReadyQueue();
  for (const queuedJob of jobs) queue.add(queuedJob);
  for (let place = 1; place < count; place += 10) queue.remove(jobs[place] ?? job("unknown"));
  let taken = 0;
  while (queue.shift()) {
    taken++;
    // The scaling reads the queue after each job that a worker takes.
    for (const { id } of queue.jobsForScaling) if (id !== "") break;
  }
  expect(taken).toBe(count * 0.9);
  return (process.cpuUsage().user - before) / 1000;
}

test("the time to process a queue grows linearly with its length", () => {
  workOff(10_000);
  const short = Math.max(5, workOff(10_000), workOff(10_000));
  // 10 times as many jobs take about 10 times as long; quadratic steps would take 100 times as long.
  expect(workOff(100_000) / short).toBeLessThan(40);
});

test("the worker that requested a job last is next, so that the others can become idle", () => {
  const queue = createReadyQueue();
  for (const id of ["first", "last"]) queue.addWaiter(waiter(id));
  expect([queue.nextWaiter()?.workerId, queue.nextWaiter()?.workerId, queue.nextWaiter()]).toEqual([
    "last",
    "first",
    undefined,
  ]);
});

test("a worker that stopped waiting receives no job", () => {
  const queue = createReadyQueue();
  const [left, stays] = [waiter("left"), waiter("stays")];
  for (const worker of [stays, left]) queue.addWaiter(worker);
  for (const worker of [left, left]) queue.removeWaiter(worker);
  expect([queue.nextWaiter()?.workerId, queue.hasWaiter]).toEqual(["stays", false]);
});
