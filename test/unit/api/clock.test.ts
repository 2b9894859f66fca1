import { elapsedTime, systemClock, wallClock } from "serverless-compute-api";
import { afterEach, describe, expect, test, vi } from "vitest";

/** Changes the system's time by `ms`, as a user or a time server does. */
function changeTime(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
}

afterEach(() => void vi.useRealTimers());

const hour = 3_600_000;

describe.each([-hour, hour])("a change of the system's time by %i ms", (change) => {
  test("does not change the time of the system clock, which durations use", () => {
    const start = systemClock.now();
    expect(Math.abs(start - Date.now())).toBeLessThan(60_000);
    changeTime(change);
    for (const time of [systemClock.now(), elapsedTime(systemClock)]) {
      expect(time).toBeGreaterThanOrEqual(start);
      expect(time - start).toBeLessThan(hour / 2);
    }
  });

  test("changes the time of the wall clock, which is stored", () => {
    const [start, elapsed] = [wallClock.now(), elapsedTime(wallClock)];
    changeTime(change);
    expect(Math.abs(wallClock.now() - start - change)).toBeLessThan(hour / 2);
    expect(elapsedTime(wallClock) - elapsed).toBeLessThan(hour / 2);
  });
});
