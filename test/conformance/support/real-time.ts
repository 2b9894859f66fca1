import { expect } from "vitest";
import { type Answer, askUntil } from "../../support/raw-http";

/** Timers and two readings of a clock may differ by that much, ms. */
const blur = 5;

/** Asserts that at least `ms` have passed since `since`. */
export function expectPassed(since: number, ms: number, what: string): void {
  const passed = Date.now() - since;
  expect(passed, `${what} came after ${passed} ms`).toBeGreaterThanOrEqual(ms - blur);
}

/**
 * Asks until `done` says so, and asserts that this was at least `ms` after `since`. `since` is of before the request that
 * began the wait, so that a slow machine makes no difference; how late it may be is only bounded by patience.
 */
export async function comesAfter(
  since: number,
  ms: number,
  ask: () => Promise<Answer>,
  done: (answer: Answer) => boolean,
): Promise<Answer> {
  const answer = await askUntil(ask, done, ms + 15_000);
  expectPassed(since, ms, answer.request);
  return answer;
}
