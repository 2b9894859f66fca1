import fc from "fast-check";
import { expect, test } from "vitest";
import { createLine } from "../../../../service/jobs/line";
import { createJobQueue, type JobQueue } from "../../../../service/jobs/queue";

const entry = (id: string, place = 0, lowPriority = false) => ({ id, place, queuedAt: 0, lowPriority });
const idsOf = (queue: JobQueue): string[] => [...queue.entries()].map(({ id }) => id);
const never = new AbortController().signal;

test("jobs are taken in the order of their places", () => {
  const queue = createJobQueue();
  for (const [place, id] of ["a", "b", "c"].entries()) queue.add(entry(id, place));
  expect([queue.take()?.id, queue.take()?.id, queue.take()?.id, queue.take()]).toEqual(["a", "b", "c", undefined]);
});

test("jobs that workers gave back have their old places", () => {
  const queue = createJobQueue();
  for (const [place, id] of ["a", "b", "c", "d"].entries()) queue.add(entry(id, place));
  const [a, b, c] = [queue.take(), queue.take(), queue.take()];
  if (!a || !b || !c) throw new Error("nothing to give back");
  queue.add(b);
  queue.add(c);
  queue.add(a);
  expect(idsOf(queue)).toEqual(["a", "b", "c", "d"]);
  expect(queue.size).toBe(4);
});

test("a removed job is not taken, wherever it stood, and can come back", () => {
  const queue = createJobQueue();
  queue.add(entry("late", 5));
  queue.add(entry("back", 1));
  queue.add(entry("later", 6));
  queue.remove("back");
  queue.remove("later");
  queue.remove("unknown");
  expect(idsOf(queue)).toEqual(["late"]);
  queue.add(entry("later", 7));
  expect(idsOf(queue)).toEqual(["late", "later"]);
});

test("jobs of low priority are taken like others and press nobody to start a worker", () => {
  const queue = createJobQueue();
  queue.add(entry("low", 1, true));
  queue.add(entry("normal", 2));
  expect([...queue.pressing()].map(({ id }) => id)).toEqual(["normal"]);
  expect([queue.take()?.id, queue.take()?.id]).toEqual(["low", "normal"]);
  expect([...queue.pressing()]).toEqual([]);
});

test("any adds, takes and removes leave a line in order, with each one once", () => {
  const step = fc.record({ what: fc.constantFrom("add", "add", "shift", "remove"), id: fc.nat(20), place: fc.nat(40) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const line = createLine();
      let model: { id: string; place: number }[] = [];
      for (const { what, id, place } of steps) {
        const one = { id: `${id}`, place };
        if (what === "shift") expect(line.shift()?.place).toBe(model.shift()?.place);
        if (what === "remove") line.remove(one.id);
        if (what === "remove" || what === "add") model = model.filter((other) => other.id !== one.id);
        if (what === "add") line.add(one);
        if (what === "add") model = [...model, one].sort((a, b) => a.place - b.place);
        expect([...line].map((entry) => entry.place)).toEqual(model.map((entry) => entry.place));
        expect([line.size, new Set([...line].map((entry) => entry.id)).size]).toEqual([model.length, model.length]);
      }
    }),
  );
});

/** ms of processor time that it takes to fill a queue, to cancel some of the jobs and to take the others. */
function workOff(jobs: number): number {
  const before = process.cpuUsage().user;
  const queue = createJobQueue();
  for (let place = 0; place < jobs; place++) queue.add(entry(`job-${place}`, place, place % 2 === 0));
  for (let place = 1; place < jobs; place += 10) queue.remove(`job-${place}`);
  let taken = 0;
  while (queue.take()) {
    taken++;
    // What is looked at after each job that a worker takes.
    for (const { id } of queue.pressing()) if (id !== "") break;
  }
  expect(taken).toBe(jobs * 0.9);
  return (process.cpuUsage().user - before) / 1000;
}

test("the time to work off a queue grows with its length, not with the square of it", () => {
  workOff(20_000);
  const short = Math.max(5, workOff(20_000), workOff(20_000));
  // 10 times as many jobs: about 10 times as long, and 100 times if each step passed all of them.
  expect(workOff(200_000) / short).toBeLessThan(40);
}, 60_000);

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

test("a job that was handed out counts until it started, came back or is over, however it was handed out", async () => {
  const queue = createJobQueue();
  const asked = queue.wait(never);
  for (const [place, id] of ["a", "b", "c"].entries()) queue.add(entry(id, place));
  expect([(await asked)?.id, queue.take()?.id, queue.take()?.id]).toEqual(["a", "b", "c"]);
  expect([queue.size, queue.handed]).toEqual([0, 3]);
  queue.remove("a");
  queue.add(entry("c", 2));
  expect([queue.size, queue.handed]).toEqual([1, 1]);
  queue.remove("b");
  expect([queue.size, queue.handed]).toEqual([1, 0]);
});
