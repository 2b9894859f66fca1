import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { readSubmission } from "../../../../service/api/submission";
import { type QueuedJob, toQueued } from "../../../../service/queue/job";
import { createOrderedQueue, createReadyQueue, type WaitingWorker } from "../../../../service/queue/memory";
import { submissionAt, useJobs } from "./support/queue-rig";

const job = (id: string, position = 0, lowPriority = false): QueuedJob =>
  toQueued(submissionAt(0, { id, lowPriority }), position, position);
function filled(...jobs: QueuedJob[]) {
  const queue = createReadyQueue();
  for (const queuedJob of jobs) queue.add(queuedJob);
  return queue;
}
/** Removes and returns the first job. */
function shift(queue: ReturnType<typeof createReadyQueue>): QueuedJob | undefined {
  const { first } = queue;
  if (first) queue.remove(first);
  return first;
}
function shiftAll(queue: ReturnType<typeof createReadyQueue>): string[] {
  const ids: string[] = [];
  for (let next = shift(queue); next; next = shift(queue)) ids.push(next.id);
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
  const step = fc.record({
    what: fc.constantFrom("add", "add", "shift", "remove"),
    id: fc.nat(20),
    position: fc.nat(40),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = createOrderedQueue<{ id: number; position: number }>();
      let model: { id: number; position: number }[] = [];
      for (const { what, id, position } of steps) {
        const known = model.find((entry) => entry.id === id);
        const leaving = what === "shift" ? queue.first : known;
        if (what === "shift") expect(leaving?.position).toBe(model.shift()?.position);
        if (leaving) queue.remove(leaving);
        if (what === "remove" || what === "add") model = model.filter((entry) => entry !== known);
        if (what === "add") {
          const added = { id, position };
          queue.add(added);
          model = [...model, added].sort((a, b) => a.position - b.position);
        }
        expect([...queue].map((entry) => entry.position)).toEqual(model.map((entry) => entry.position));
        expect([queue.size, queue.first?.position]).toEqual([model.length, model[0]?.position]);
      }
    }),
  );
});

/** Fills a queue, cancels some of its jobs and takes the others. */
function workOff(count: number): void {
  const jobs = Array.from({ length: count }, (_, position) => job(`job-${position}`, position, position % 2 === 0));
  const queue = createReadyQueue();
  for (const queuedJob of jobs) queue.add(queuedJob);
  for (let position = 1; position < count; position += 10) queue.remove(jobs[position] ?? job("unknown"));
  let taken = 0;
  while (shift(queue)) {
    taken++;
    // The scaling reads the queue after each job that a worker takes.
    for (const { id } of queue.jobsForScaling) if (id !== "") break;
  }
  expect(taken).toBe(count * 0.9);
}

test("the time to process a queue grows linearly with its length", () => {
  const startTime = performance.now();
  for (let round = 0; round < 10; round++) workOff(10_000);
  const splitTime = performance.now();
  workOff(100_000);
  // As many jobs in one queue take about as long, also beside other work; quadratic steps would take 10 times as long.
  expect((performance.now() - splitTime) / (splitTime - startTime)).toBeLessThan(5);
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

const megabyte = 1024 * 1024;

/** Used bytes of the heap after garbage collection. */
function usedHeap(): number {
  setFlagsFromString("--expose-gc");
  z.function({ input: [], output: z.void() }).parse(runInNewContext("gc"))();
  return process.memoryUsage().heapUsed;
}

test("queued jobs do not keep their bodies in memory", async () => {
  const { jobs, take, steady } = useJobs();
  const large = "x".repeat(2 * megabyte);
  const before = usedHeap();
  for (let count = 0; count < 15; count++) {
    const body = Buffer.from(`{"input":{"prompt":"short"},"s3Config":{"a":"${large}"}}`).toString();
    await jobs.submit(readSubmission("endpoint", "run", body, steady));
  }
  expect((usedHeap() - before) / megabyte).toBeLessThan(15);
  const [taken] = await take("endpoint", "w");
  expect(taken).toMatchObject({ input: '{"prompt":"short"}' });
});
