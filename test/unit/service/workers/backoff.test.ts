import { describe, expect, test } from "vitest";
import { steadyClock } from "../../../../service/steady-clock";
import { resolveTimings } from "../../../../service/timings";
import { createStartBackoff } from "../../../../service/workers/backoff";
import { ManualClock } from "../../../support/manual-clock";

function backoff() {
  const clock = new ManualClock();
  const timings = resolveTimings({ startBackoff: 100, startBackoffMax: 1000 });
  const starts = createStartBackoff(steadyClock(clock), timings);
  const wait = (endpoint: string): number => Math.max(0, starts.notBefore(endpoint) - clock.now());
  return { clock, starts, wait };
}

describe("the wait before the next worker of an endpoint", () => {
  test("doubles with each failure, up to its limit", () => {
    const { starts, wait } = backoff();
    const waits = Array.from({ length: 7 }, () => {
      starts.recordFailure("a", false);
      return wait("a");
    });
    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
    expect(wait("b"), "another endpoint").toBe(0);
    starts.recordFailure("b", false);
    expect(wait("b"), "another endpoint").toBe(100);
  });

  test("counts from the last failure", async () => {
    const { clock, starts, wait } = backoff();
    starts.recordFailure("a", false);
    await clock.advance(60);
    expect(wait("a")).toBe(40);
    starts.recordFailure("a", false);
    expect(wait("a")).toBe(200);
  });

  test("is reset with the endpoint", () => {
    const { starts, wait } = backoff();
    for (const _ of [1, 2, 3]) starts.recordFailure("a", true);
    starts.reset("a");
    expect(wait("a")).toBe(0);
    expect(starts.recordFailure("a", true)).toBe(1);
    expect(wait("a")).toBe(100);
  });

  test("counts only consecutive failures", () => {
    const { starts } = backoff();
    expect([true, true, false, true].map((starting) => starts.recordFailure("a", starting))).toEqual([1, 2, 0, 1]);
  });
});
