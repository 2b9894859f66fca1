import fc from "fast-check";
import { expect, test } from "vitest";
import { createTimerQueue } from "../../../../service/jobs/timer-queue";

test("any timers come when their time has come, the earliest first, and those that no longer count never", () => {
  const timers = fc.array(fc.record({ at: fc.nat(100), isCurrent: fc.boolean() }), { maxLength: 200 });
  fc.assert(
    fc.property(timers, fc.nat(100), (all, now) => {
      const queue = createTimerQueue<(typeof all)[number]>(
        (timer) => timer.isCurrent,
        () => 0,
      );
      for (const timer of all) queue.add(timer.at, timer);
      const current = all.filter(({ isCurrent }) => isCurrent).map(({ at }) => at);
      const due = current.filter((at) => at <= now).sort((a, b) => a - b);
      expect(queue.due(now, Number.POSITIVE_INFINITY).map(({ at }) => at)).toEqual(due);
      const later = current.filter((at) => at > now);
      expect(queue.next()).toBe(later.length === 0 ? undefined : Math.min(...later));
    }),
  );
});

test("no more come at once than asked for, and the others after them", () => {
  const queue = createTimerQueue<number>(
    () => true,
    () => 0,
  );
  for (const at of [3, 1, 2]) queue.add(at, at);
  expect([queue.due(5, 2), queue.due(5, 2), queue.next()]).toEqual([[1, 2], [3], undefined]);
});

test("timers that no longer count are cleared away when they become the larger part", () => {
  let checks = 0;
  const queue = createTimerQueue<number>(
    (item) => {
      checks++;
      return item === -1;
    },
    () => 1,
  );
  queue.add(1_000_000, -1);
  for (let at = 0; at < 10_000; at++) queue.add(at, at);
  checks = 0;
  expect(queue.next()).toBe(1_000_000);
  expect(checks).toBeLessThan(1100);
});
