import { expect, test } from "vitest";
import { createJobQueue, type JobQueue } from "../../../../service/jobs/queue";

const entry = (id: string, queuedAt = 0) => ({ id, queuedAt, lowPriority: false });
const idsOf = (queue: JobQueue): string[] => [...queue.entries()].map(({ id }) => id);
const never = new AbortController().signal;

test("jobs are taken in the order in which they came", () => {
  const queue = createJobQueue();
  for (const [at, id] of ["a", "b", "c"].entries()) queue.add(entry(id, at));
  expect([queue.take()?.id, queue.take()?.id, queue.take()?.id, queue.take()]).toEqual(["a", "b", "c", undefined]);
});

test("jobs that workers gave back come before those that never left, the oldest first", () => {
  const queue = createJobQueue();
  for (const [at, id] of ["a", "b", "c", "d"].entries()) queue.add(entry(id, at));
  const [a, b] = [queue.take(), queue.take()];
  if (!a || !b) throw new Error("nothing to give back");
  queue.add(b);
  queue.add(a);
  expect(idsOf(queue)).toEqual(["a", "b", "c", "d"]);
  expect(queue.size).toBe(4);
});

test("a removed job is not taken, wherever it stood", () => {
  const queue = createJobQueue();
  queue.add(entry("late", 5));
  queue.add(entry("back", 1));
  queue.add(entry("later", 6));
  queue.remove("back");
  queue.remove("later");
  queue.remove("unknown");
  expect(idsOf(queue)).toEqual(["late"]);
});

test("a job goes to the one who asked last, so that the others can fall idle", async () => {
  const queue = createJobQueue();
  const [first, last] = [queue.wait(never), queue.wait(never)];
  queue.add(entry("a"));
  expect((await last)?.id).toBe("a");
  queue.add(entry("b"));
  expect((await first)?.id).toBe("b");
  expect(queue.size).toBe(0);
});

test("one who stopped waiting gets nothing, and no job is lost on the way", async () => {
  const queue = createJobQueue();
  const gone = new AbortController();
  const left = queue.wait(gone.signal);
  gone.abort();
  expect(await left).toBeUndefined();
  queue.add(entry("a"));
  expect(idsOf(queue)).toEqual(["a"]);
  expect(await queue.wait(gone.signal)).toMatchObject({ id: "a" });
});
