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
 * Polls until `done` returns true and asserts that this took at least `ms` from `since`. Take `since` before the request
 * that starts the wait, so that a slow machine cannot fail the test. The only upper bound is the polling limit.
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
