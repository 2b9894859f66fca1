import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createMetrics } from "../../../../service/metrics/metrics";
import { slotCount, slotLengths } from "../../../../service/metrics/ranges";
import { createJobEvents } from "../../../../service/queue/events";
import { toCompleted, toFailed, toQueued, toRunning } from "../../../../service/queue/job";
import { scratchFolder } from "../../../support/folders";
import { ManualClock } from "../../../support/manual-clock";
import { submissionAt } from "../queue/support/queue-rig";

function newFile(): string {
  const folder = scratchFolder();
  return join(folder, "charts.json");
}

function open(file = newFile()) {
  const clock = new ManualClock();
  const events = createJobEvents();
  const waiting = new Map<string, number>();
  const deleted = new Set<string>();
  const exists = (id: string): boolean => !deleted.has(id);
  function countWaiting(id: string): number {
    expect(exists(id), "only existing endpoints have a queue").toBe(true);
    return waiting.get(id) ?? 0;
  }
  const metrics = createMetrics({ events, waiting: countWaiting, exists, clock, file });
  onTestFinished(metrics.close);
  let seq = 0;
  /** Ends a job now that was submitted `ms` ago. */
  function end(ms: number, endpointId = "e", fails = false): void {
    const now = clock.now();
    const job = toQueued(submissionAt(now - ms, { id: `j${++seq}`, endpointId }), seq, seq);
    const before = toRunning(job, "w", now - ms);
    events.emit("ended", fails ? toFailed(before, "no", now) : toCompleted(before, now), before, undefined);
  }
  /** Metrics of an endpoint in a range, by default the shortest. */
  function read(endpointId: string, range = 0) {
    const found = metrics.readRanges(endpointId)[range];
    if (!found) throw new Error(`there is no range ${range}`);
    return found;
  }
  return { clock, events, metrics, read, waiting, deleted, end };
}
const [slotLength] = slotLengths;
const last = <Value>(values: Value[]): Value | undefined => values.at(-1);

test("jobs are counted in the slot in which they end, failed jobs separately", async () => {
  const { clock, read, end } = open();
  end(10);
  end(10, "e", true);
  end(10, "other");
  await clock.advance(slotLength);
  end(10);
  const { completed, failed, until } = read("e");
  expect(completed).toHaveLength(slotCount);
  expect(completed.slice(-2)).toEqual([1, 1]);
  expect(failed.slice(-2)).toEqual([1, 0]);
  expect(until).toBeGreaterThan(clock.now());
  expect(until - clock.now()).toBeLessThanOrEqual(slotLength);
});

test("p50 and p95 of the slot's completed jobs are accurate to a tenth", async () => {
  const { read, end } = open();
  for (let ms = 1; ms <= 100; ms++) end(ms * 10);
  for (let count = 0; count < 50; count++) end(60_000, "e", true);
  const { p50, p95 } = read("e");
  expect(Math.abs((last(p50) ?? 0) - 500)).toBeLessThanOrEqual(50);
  expect(Math.abs((last(p95) ?? 0) - 950)).toBeLessThanOrEqual(95);
  expect(p50.slice(0, -1)).toEqual(Array.from({ length: slotCount - 1 }, () => null));
});

test("a slot stores the longest queue, and is removed after 15 minutes", async () => {
  const { clock, metrics, read, waiting, end } = open();
  end(1);
  for (const count of [3, 7, 2]) {
    waiting.set("e", count);
    metrics.sample();
    await clock.advance(1000);
  }
  expect(Math.max(...read("e").queue)).toBe(7);
  waiting.set("e", 0);
  for (let slot = 0; slot < slotCount; slot++) {
    await clock.advance(slotLength);
    metrics.sample();
  }
  const { queue, completed } = read("e");
  expect([Math.max(...queue), Math.max(...completed)]).toEqual([0, 0]);
});

test("longer ranges count the same jobs in longer slots, up to a day", async () => {
  const { clock, metrics, read, end } = open();
  const countsOf = (range: number) => read("e", range).completed.reduce((sum, count) => sum + count, 0);
  for (let hour = 0; hour < 24; hour++) {
    end(5);
    await clock.advance(3600_000);
    metrics.sample();
  }
  expect(slotLengths.map((length) => (length * slotCount) / 3600_000)).toEqual([0.25, 3, 24]);
  expect([0, 1, 2].map(countsOf)).toEqual([0, 2, 23]);
});

test("the metrics of a deleted endpoint are removed", () => {
  const { metrics, read, deleted, end } = open();
  end(5);
  end(5, "other");
  deleted.add("e");
  metrics.sample();
  expect(last(read("e").completed)).toBe(0);
  expect(last(read("other").completed)).toBe(1);
});

test("a clock that jumps by hours clears all slots, and a clock that is set back continues the newest", async () => {
  const { clock, read, end } = open();
  end(5);
  await clock.advance(10 * 3600_000);
  expect(Math.max(...read("e").completed)).toBe(0);
  end(5);
  await clock.advance(-3600_000);
  end(5);
  expect(last(read("e").completed)).toBe(2);
});

test("stored ranges continue after a restart, without the slots that have passed", async () => {
  const file = newFile();
  const first = open(file);
  first.metrics.start();
  first.end(10);
  first.end(20, "e", true);
  first.end(10, "deleted");
  await first.clock.advance(3 * slotLength);
  first.end(10);
  const before = first.read("e");
  first.metrics.close();
  const second = open(file);
  second.deleted.add("deleted");
  await second.clock.advance(first.clock.now() - second.clock.now() + 2 * slotLength);
  second.metrics.start();
  const after = second.read("e");
  expect(after.completed).toEqual([...before.completed.slice(2), 0, 0]);
  expect(after.failed).toEqual([...before.failed.slice(2), 0, 0]);
  expect(after.p50).toEqual([...before.p50.slice(2), null, null]);
  expect(second.metrics.find("deleted")).toBeUndefined();
  second.end(10);
  expect(last(second.read("e").completed)).toBe(1);
});

test.each(["", "{", '{"e":[{}]}', '{"e":[{"slotLength":10000,"newestSlot":"x"}]}'])(
  "a damaged file (%j) is ignored",
  (text) => {
    const file = newFile();
    writeFileSync(file, text);
    const { metrics, read } = open(file);
    metrics.start();
    expect(read("e").completed).toEqual(Array(slotCount).fill(0));
  },
);

test("a start that fails leaves the stored ranges", () => {
  const file = newFile();
  writeFileSync(file, "stored");
  open(file).metrics.close();
  expect(readFileSync(file, "utf8")).toBe("stored");
});

test("the times of jobs and the failed starts of workers are counted since the start", () => {
  const { events, metrics, end } = open();
  for (const ms of [1, 5, 6, 1_800_001]) end(ms);
  events.emit("startFailed", "e");
  const { queueTimes, executionTimes, startFailures } = metrics.find("e") ?? {};
  expect(startFailures).toBe(1);
  expect(queueTimes).toMatchObject({ sum: 0, counts: [4, ...Array(15).fill(0)] });
  expect(executionTimes?.counts).toEqual([2, 1, ...Array(13).fill(0), 1]);
  expect(executionTimes?.sum).toBeCloseTo(1800.013);
});
