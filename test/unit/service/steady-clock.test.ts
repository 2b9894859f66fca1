import { expect, test } from "vitest";
import { type SystemClock, steadyClock } from "../../../service/steady-clock";
import { ManualClock } from "../../support/manual-clock";

test.each([-3_600_000, 7_200_000])("ignores a change of the system time by %i ms, and reports it", async (change) => {
  const system = new ManualClock();
  const clock = steadyClock(system);
  const start = clock.now();
  expect([start, clock.systemChange()]).toEqual([system.now(), 0]);
  system.change(change);
  await system.advance(1000);
  expect(clock.now()).toBe(start + 1000);
  expect(clock.now() + clock.systemChange()).toBe(system.now());
});

test("differences of the two clocks by some milliseconds are no change of the system time", () => {
  const system = new ManualClock();
  const clock = steadyClock(system);
  const changes = [3, -5, 3600_000, 1, -3600_000].map((ms) => {
    system.change(ms);
    return clock.systemChange();
  });
  expect(changes).toEqual([0, 0, 3599_998, 3599_998, -1]);
});

test("cannot be used where the system's time is required, as the compiler checks", () => {
  const isSystemClock = (_clock: SystemClock): boolean => true;
  const clock = steadyClock(new ManualClock());
  // @ts-expect-error its times are not those of the system
  expect([isSystemClock(clock), isSystemClock(clock.system)]).toEqual([true, true]);
});

test("times are whole milliseconds, although monotonic time has fractions", () => {
  const clock = steadyClock({ now: () => 1000, elapsed: () => 0.7, sleep: async () => undefined });
  expect(clock.now()).toBe(1000);
});
